// spawn for callables that return a task.
#pragma once
#include <hocket/core/spawn.hpp>
#include <hocket/coro/detail/awaited_call.hpp>
#include <hocket/coro/detail/stand_in.hpp>
#include <hocket/coro/task.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// A spawned task with its root: the frame that is posted to begin it, and that the task returns to. Made by hand, as a
// part of the object, where a coroutine around the task would be one allocation more.
template <class T, class Call>
class spawned_task final : public scheduled_result<T>, private stand_in {
 public:
  template <class... Given>
  explicit spawned_task(spawn_target& target, const spawn_options& options, Given&&... given)
      : scheduled_result<T>(target, coroutine_kind::task, options, &dispose_spawned<spawned_task>),
        stand_in(&spawned_task::go),
        call_(std::forward<Given>(given)...) {
    this->header.kind = coroutine_kind::root;
    this->header.budget = transfer_budget;
    this->header.ctx = this;
  }

  std::coroutine_handle<> start_handle() { return detail::open(*this); }
  void drop_call() noexcept { call_.reset(); }

 private:
  // The root is resumed twice.
  static std::coroutine_handle<> go(stand_in& root) noexcept {
    auto& self = static_cast<spawned_task&>(root);
    return self.body_ ? self.return_from_body() : self.begin_body();
  }
  std::coroutine_handle<> begin_body() noexcept {
    if (!this->begin()) return conclude();
    try {
      if constexpr (Call::may_leave_temporaries) body_ = await_call<Call&>(call_);
      else body_ = call_();
      static_cast<void>(body_.await_ready());
      return body_.await_suspend(detail::open(*this));
    } catch (...) {
      this->fail();
    }
    std::move(body_).discard();
    return conclude();
  }
  std::coroutine_handle<> return_from_body() noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        body_.await_resume();
        this->slot.set_value();
      } else {
        this->slot.set_value_from([this]() -> T { return body_.await_resume(); });
      }
      this->succeed();
    } catch (...) {
      this->fail();
      std::move(body_).discard();  // if it was the result that threw, the frame is still there
    }
    return conclude();
  }
  // The object may be gone afterwards.
  std::coroutine_handle<> conclude() noexcept {
    drop_call();
    this->finish();
    return nullptr;
  }

  Call call_;
  task<T> body_;
};

template <class Call>
struct spawned_as<true, Call> {
  using type = spawned_task<typename Call::returned::value_type, Call>;
};

}  // namespace hocket::inline HOCKET_ABI::detail
