// yield: lets the other coroutines that are ready run first.
//
//   co_await yield();       // or await(yield()) in a fiber
//
// The coroutine goes to the end of its executor's run queue. It is not a wait: no deadline and no cancellation end it,
// but a coroutine that was killed unwinds here.
#pragma once
#include <hocket/core/operation.hpp>

namespace hocket::inline HOCKET_ABI {

class [[nodiscard("yield does nothing until it is awaited")]] yield : public own_awaiter {
 public:
  yield() noexcept = default;

  static constexpr bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> handle) noexcept;
  void await_resume();

 private:
  runnable run_;
  context* ctx_ = nullptr;
};

}  // namespace hocket::inline HOCKET_ABI
