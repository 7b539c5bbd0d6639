// The awaiters of fork_join() of a vector, and of fork_each(): children of one type, their number known at run time.
#pragma once
#include <hocket/core/frame_memory.hpp>
#include <hocket/coro/detail/fork_awaiter.hpp>
#include <span>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Children of one type. `Derived` has `handle make(std::size_t index) noexcept`.
template <class Derived>
class fork_row : public fork_awaiter {
 public:
  bool await_ready() const noexcept { return count_ == 0; }
  template <class Promise>
    requires goes_on_anywhere<Promise>
  [[HOCKET_APART_FROM_FRAME]] bool await_suspend(std::coroutine_handle<Promise> parent) {
    return begin(parent, parent.promise());
  }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) {
    return this->begin_apart(count_, parent);
  }

 protected:
  explicit fork_row(std::size_t count) noexcept : fork_awaiter(&make_any), count_(count) {}
  std::size_t count() const noexcept { return count_; }
  template <class Drop>
  void end(Drop drop) {
    if (count_ != 0) this->end_group(drop);
  }

 private:
  [[HOCKET_ALWAYS_INLINE]] bool begin(fork_group::handle parent, coroutine_header& above) {
    return count_ <= charged_at_once ? begin_few(parent, above) : begin_many(parent, above);
  }
  [[HOCKET_ALWAYS_INLINE]] bool begin_few(fork_group::handle parent, coroutine_header& above) {
    thread_state& thread = this_thread();
    if (!this->can_call(thread, above)) [[unlikely]]
      return this->begin_by_transfer(count_, parent, above);
    if (!this->may_call(thread, static_cast<std::int32_t>(count_))) [[unlikely]]
      return this->is_late(above) && this->begin_by_transfer(count_, parent, above);
    const auto origin = this->begin_calls(thread, count_, parent, above);
    const std::size_t last = count_ - 1;
    for (std::size_t i = 0; i != last; ++i) {
      const auto result = this->call(origin, derived().make(i), i + 1);
      if (result != fork_group::turn::next) [[unlikely]]
        return result != fork_group::turn::parent;
    }
    return this->call_last(origin, derived().make(last)) != fork_group::turn::parent;
  }
  // Renews the number of calls between its children.
  [[HOCKET_NOINLINE]] bool begin_many(fork_group::handle parent, coroutine_header& above) {
    thread_state& thread = this_thread();
    if (!this->can_call(thread, above)) return this->begin_by_transfer(count_, parent, above);
    const auto origin = this->begin_calls(thread, count_, parent, above);
    const std::size_t last = count_ - 1;
    for (std::size_t i = 0; i != last; ++i) {
      auto result =
          this->may_call(thread, 1) ? this->call(origin, derived().make(i), i + 1) : this->call_later(origin, i);
      if (result != fork_group::turn::next) return result != fork_group::turn::parent;
    }
    return this->call_last(origin, derived().make(last)) != fork_group::turn::parent;
  }
  static fork_group::handle make_any(fork_group& group, std::size_t index) noexcept {
    return static_cast<Derived&>(static_cast<fork_row&>(group)).make(index);
  }
  Derived& derived() noexcept { return static_cast<Derived&>(*this); }

  static constexpr std::size_t charged_at_once = 64;

  const std::size_t count_;
};

// The results of a row. If elements of a vector need no destructor and begin with a value, then the children write to
// this vector. If not, then the children write to places, and take() moves them into a vector.
template <class T>
class fork_results {
  using stored = typename task_promise_base<T>::stored;

 public:
  using vector = std::vector<stored>;
  explicit fork_results(std::size_t count) : places_(count) {}
  void* place(std::size_t index) noexcept { return &places_[index]; }
  vector take() {
    vector results;
    results.reserve(places_.size());
    for (auto& slot : places_) results.push_back(std::move(slot.value()));
    return results;
  }

 private:
  std::vector<fork_place<stored>, frame_allocator<fork_place<stored>>> places_;
};
template <class T>
inline constexpr bool written_in_place =
    std::is_object_v<T> && !std::is_same_v<T, bool> && std::is_trivially_copyable_v<T> &&
    std::is_trivially_default_constructible_v<T>;
template <class T>
  requires written_in_place<T>
class fork_results<T> {
 public:
  using vector = std::vector<T>;
  explicit fork_results(std::size_t count) : results_(count) {}
  void* place(std::size_t index) noexcept { return &results_[index]; }
  vector take() noexcept { return std::move(results_); }

 private:
  vector results_;
};
// No results. A place has the order of its child only.
template <>
class fork_results<void> {
 public:
  explicit fork_results(std::size_t) noexcept {}
  static void* place(std::size_t index) noexcept { return reinterpret_cast<void*>(index + 1); }
  static void take() noexcept {}
};

template <class T>
class [[nodiscard("what is forked does nothing until it is awaited")]] fork_vector final
    : public fork_row<fork_vector<T>> {
 public:
  explicit fork_vector(std::vector<task<T>>&& children)
      : fork_row<fork_vector>(children.size()), children_(std::move(children)), results_(children_.size()) {}
  auto await_resume() {
    this->end([this] {
      for (auto& child : children_) this->drop_source(child);
    });
    return results_.take();
  }

 private:
  friend fork_row<fork_vector>;
  fork_group::handle make(std::size_t index) noexcept {
    return this->begin_task(children_[index], results_.place(index));
  }

  std::vector<task<T>> children_;
  [[no_unique_address]] fork_results<T> results_;
};

// Calls f(index) when child `index` begins.
template <class F, class Results>
class [[nodiscard("what is forked does nothing until it is awaited")]] fork_calls final
    : public fork_row<fork_calls<F, Results>> {
 public:
  template <class... To>
  fork_calls(F&& f, std::size_t count, To... target)
      : fork_row<fork_calls>(count), f_(std::move(f)), results_(count, target...) {}
  auto await_resume() {
    this->end([] {});
    return results_.take();
  }

 private:
  friend fork_row<fork_calls>;
  fork_group::handle make(std::size_t index) noexcept {
    void* const place = results_.place(index);
    try {
      auto child = f_(index);
      return this->begin_task(child, place);
    } catch (...) {
      this->make_failed(place);
      return nullptr;
    }
  }

  F f_;
  [[no_unique_address]] Results results_;
};

// Elements of an array of the caller: assigned after the join, or written by the children.
template <class T>
class fork_results_to {
 public:
  fork_results_to(std::size_t count, std::span<T> target) : results_(count), target_(target) {}
  void* place(std::size_t index) noexcept { return results_.place(index); }
  void take() {
    auto target = target_.begin();
    for (auto&& result : results_.take()) *target++ = std::move(result);
  }

 private:
  fork_results<T> results_;
  std::span<T> target_;
};
template <class T>
  requires written_in_place<T>
class fork_results_to<T> {
 public:
  fork_results_to(std::size_t, std::span<T> target) noexcept : target_(target.data()) {}
  void* place(std::size_t index) noexcept { return target_ + index; }
  static void take() noexcept {}

 private:
  T* target_;
};

}}}  // namespace hocket::detail
