// The awaiter of task<T>::propagate().
#pragma once
#include <hocket/coro/detail/early_end.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Task>
class propagating : public early_end {
  using promise_type = std::remove_reference_t<decltype(std::declval<typename Task::handle_type>().promise())>;

 public:
  explicit propagating(Task&& child) noexcept : early_end(&propagating::resumed), child_(std::move(child)) {}
  propagating(const propagating&) = delete;
  propagating& operator=(const propagating&) = delete;

  bool await_ready() const noexcept { return child_.await_ready(); }
  template <class Promise>
  handle await_suspend(std::coroutine_handle<Promise> self) noexcept(!conforming_mode) {
    static_assert(ends_early<Promise>,
                  "hocket: propagate() is for tasks: where a fiber or anything else awaits, await the task itself");
    fail_ = &propagating::fail<Promise>;
    return suspend(child_, self.promise(), self);
  }
  typename Task::value_type await_resume() { return child_.await_resume(); }

 private:
  // Destroys the child's frame at once: a chain of a million tasks ends without a recursion.
  static handle resumed(stand_in& frame) noexcept {
    auto& self = static_cast<propagating&>(frame);
    std::exception_ptr error = self.child_.take_failure();
    return error ? self.fail_(self, std::move(error)) : self.resume_task();
  }
  template <class Promise>
  static handle fail(propagating& self, std::exception_ptr error) noexcept {
    return self.template promise<Promise>().fail_here(std::move(error));
  }

  Task child_;
  handle (*fail_)(propagating& self, std::exception_ptr error) noexcept = nullptr;
};

}}}  // namespace hocket::detail
