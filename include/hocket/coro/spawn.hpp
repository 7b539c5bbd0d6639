// Spawns callables that return a task: the part of spawn() (core/spawn/seam/spawn.hpp) for tasks.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/core/thread/seam/stand_in.hpp>
#include <hocket/coro/detail/awaited_call.hpp>
#include <hocket/coro/task.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Call>
using callable_of = std::tuple_element_t<0, std::remove_reference_t<decltype(std::declval<Call&>().parts())>>;
template <class Call>
using body_of = task<typename Call::returned::value_type>;

// A callable with settle() handles the end of its task itself, without a coroutine around the task: it takes the result
// or the exception from body.await_resume(). Then the spawned coroutine ends without a result, or with the exception of
// settle(). If the callable throws instead of returning a task, settle_failed_call() is called in the catch (...).
template <class Call>
concept settles = requires(callable_of<Call>& callable, body_of<Call>& body) {
  callable.settle(body);
  { callable.settle_failed_call() } noexcept;
};

template <class Call>
struct result_of_spawned {
  using type = typename Call::returned::value_type;
};
template <settles Call>
struct result_of_spawned<Call> {
  using type = void;
};

// The parts of a spawned task: a small callable is in the last word of the object before it.
template <class T, class Call>
class called_task : public scheduled_result<T> {
 protected:
  template <class... Args>
  called_task(spawn_target& target, const spawn_options& options, context::disposer dispose, Args&&... args)
      : scheduled_result<T>(target, coroutine_kind::task, options, dispose), call_(std::forward<Args>(args)...) {}
  ~called_task() = default;

  Call call_;
  body_of<Call> body_;
};

// A spawned task with its root, the frame that is posted to begin the task. The task returns to the root. The root is
// a part of the object, made by hand, because a coroutine around the task would be one more allocation.
template <class T, class Call>
class spawned_task final : public called_task<T, Call>, private stand_in {
 public:
  template <class... Args>
  explicit spawned_task(spawn_target& target, const spawn_options& options, Args&&... args)
      : called_task<T, Call>(target, options, &dispose_spawned<spawned_task>, std::forward<Args>(args)...),
        stand_in(&spawned_task::resumed) {
    this->header.kind = coroutine_kind::root;
    this->header.budget = transfer_budget;
    this->header.ctx = this;
  }

  std::coroutine_handle<> start_handle() { return detail::open(*this); }
  void drop_call() noexcept { this->call_.reset(); }

 private:
  // The root is resumed twice: to begin the task, and at its end.
  static std::coroutine_handle<> resumed(stand_in& root) noexcept {
    auto& self = static_cast<spawned_task&>(root);
    return self.body_ ? self.return_from_body() : self.begin_body();
  }
  std::coroutine_handle<> begin_body() noexcept {
    Call& call = this->call_;
    body_of<Call>& body = this->body_;
    if (!this->begin()) return conclude();
    try {
      if constexpr (Call::may_leave_temporaries) body = await_call<Call&>(call);
      else body = call();
      static_cast<void>(body.await_ready());
      return body.await_suspend(detail::open(*this));
    } catch (...) {
      if constexpr (settles<Call>) std::get<0>(call.parts()).settle_failed_call(), this->succeed();
      else this->fail();
    }
    std::move(body).discard();
    return conclude();
  }
  std::coroutine_handle<> return_from_body() noexcept {
    body_of<Call>& body = this->body_;
    try {
      if constexpr (settles<Call>) std::get<0>(this->call_.parts()).settle(body);
      else this->store_result([&body]() -> T { return body.await_resume(); });
      this->succeed();
    } catch (...) {
      this->fail();
      std::move(body).discard();  // if the move of the result threw, the frame still exists
    }
    return conclude();
  }
  // May destroy the object.
  std::coroutine_handle<> conclude() noexcept {
    drop_call();
    this->finish();
    return nullptr;
  }
};

template <class Call>
struct spawned_as<true, Call> {
  using type = spawned_task<typename result_of_spawned<Call>::type, Call>;
};

}}}  // namespace hocket::detail
