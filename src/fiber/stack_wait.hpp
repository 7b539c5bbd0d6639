// The wait of a spawned fiber for a stack: at_limit::wait. The fiber has not begun, so its start frame waits.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/stack/stack_depot.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class scheduled;

// A wait of the library (core/wait/seam/suspension.hpp): a stop, a kill and the deadline of the context end it. A stack
// that arrives too late is passed on to the next waiter.
class stack_wait final : private wait_source, private stack_waiter {
 public:
  explicit stack_wait(stack_depot& depot) noexcept : stack_waiter(&stack_wait::on_stack), depot_(depot) {}

  // On the worker. True: suspended; `start` is posted when the wait is over. False: it is over already.
  [[nodiscard]] bool begin(std::coroutine_handle<> start, const std::source_location& at) noexcept;

  // Called after the wait. Throws its error if it has no stack.
  stack_ref take(scheduled& self);

 private:
  const char* what() const noexcept override { return "a free stack"; }
  bool detach(waiter&) noexcept override { return depot_.withdraw(*this); }
  void pass_on(waiter&) noexcept override { depot_.release(stack_); }
  static void on_stack(stack_waiter& self, const stack_ref& stack) noexcept;

  stack_depot& depot_;
  stack_ref stack_{};
  std::error_code error_;
  suspension wait_;
  waiter entry_;
};

}}}  // namespace hocket::detail
