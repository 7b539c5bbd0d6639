// The awaiter of fork_join() of a pack: the number of children is known at compile time. They are tasks or callables.
#pragma once
#include <hocket/coro/detail/fork_awaiter.hpp>
#include <tuple>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Each source beside the place of its result: the places lie in the order of the children.
template <class Source>
struct fork_part {
  explicit fork_part(Source&& value) : source(std::move(value)) {}
  Source source;
  fork_place<typename task_promise_base<forked_value<Source>>::stored> place;
};
template <class... Sources>
struct fork_parts {};
template <class First, class... Rest>
struct fork_parts<First, Rest...> {
  explicit fork_parts(First&& first, Rest&&... rest) : head(std::move(first)), tail(std::move(rest)...) {}
  template <std::size_t I>
  auto& get() noexcept {
    if constexpr (I == 0) return head;
    else return tail.template get<I - 1>();
  }
  fork_part<First> head;
  [[no_unique_address]] fork_parts<Rest...> tail;
};

template <class... Sources>
class [[nodiscard("what is forked does nothing until it is awaited")]] fork_pack final : public fork_awaiter {
 public:
  explicit fork_pack(Sources&&... sources) : fork_awaiter(&make_any), parts_(std::move(sources)...) {}
  fork_pack(const fork_pack&) = delete;
  fork_pack& operator=(const fork_pack&) = delete;

  template <class Promise>
    requires goes_on_anywhere<Promise>
  [[HOCKET_APART_FROM_FRAME]] bool await_suspend(std::coroutine_handle<Promise> parent) {
    return begin(parent, parent.promise(), all());
  }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) {
    return this->begin_apart(count, parent);
  }
  auto await_resume() {
    this->end_group([this] { drop(all()); });
    return take_all(all());
  }

 private:
  static constexpr std::size_t count = sizeof...(Sources);
  static constexpr auto all() { return std::index_sequence_for<Sources...>(); }

  template <std::size_t... Is>
  [[HOCKET_ALWAYS_INLINE]] bool begin(fork_group::handle parent, coroutine_header& above, std::index_sequence<Is...>) {
    thread_state& thread = this_thread();
    if (!this->can_call(thread, above)) [[unlikely]]
      return this->begin_by_transfer(count, parent, above);
    if (!this->may_call(thread, static_cast<std::int32_t>(count))) [[unlikely]]
      return this->is_late(above) && this->begin_by_transfer(count, parent, above);
    const auto origin = this->begin_calls(thread, count, parent, above);
    auto result = fork_group::turn::next;
    static_cast<void>((((result = call_child<Is>(origin)) == fork_group::turn::next) && ...));
    return result != fork_group::turn::parent;
  }
  template <std::size_t I>
  [[HOCKET_ALWAYS_INLINE]] fork_group::turn call_child(const fork_group::caller& origin) noexcept {
    const auto child = make<I>(*this);
    if constexpr (I + 1 == count) return this->call_last(origin, child);
    else return this->call(origin, child, I + 1);
  }

  template <std::size_t I>
  [[HOCKET_ALWAYS_INLINE]] static fork_group::handle make(fork_pack& self) noexcept {
    auto& part = self.parts_.template get<I>();
    using source = std::remove_reference_t<decltype(part.source)>;
    if constexpr (is_task<source>) {
      return self.begin_task(part.source, &part.place);
    } else {
      try {
        auto child = part.source();
        return self.begin_task(child, &part.place);
      } catch (...) {
        self.make_failed(&part.place);
        return nullptr;
      }
    }
  }
  static fork_group::handle make_any(fork_group& group, std::size_t index) noexcept {
    return make_number(static_cast<fork_pack&>(group), index, all());
  }
  template <std::size_t... Is>
  static fork_group::handle make_number(fork_pack& self, std::size_t index, std::index_sequence<Is...>) noexcept {
    fork_group::handle child;
    static_cast<void>(((Is == index ? (child = make<Is>(self), true) : false) || ...));
    return child;
  }
  template <std::size_t... Is>
  void drop(std::index_sequence<Is...>) noexcept {
    ((this->drop_source(parts_.template get<Is>().source)), ...);
  }
  template <std::size_t... Is>
  auto take_all(std::index_sequence<Is...>) {
    return std::tuple<std::conditional_t<std::is_void_v<forked_value<Sources>>, no_value, forked_value<Sources>>...>{
        this->template take<forked_value<Sources>>(parts_.template get<Is>().place)...};
  }

  fork_parts<Sources...> parts_;
};

}}}  // namespace hocket::detail
