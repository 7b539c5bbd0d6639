// A wait of a task that allocates no memory: its room is a part of the frame (core/wait/seam/wait_room.hpp).
//
//   const result<void> ready = co_await memoryless_wait(listener.readable());
//
// For coroutines that must continue without memory, as the acceptor of a server.
#pragma once
#include <hocket/primitive.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Operation>
class memoryless_wait : public own_awaiter {
  using room = typename Operation::own_room;
  using inner = decltype(std::declval<Operation>().template wait_in<room>());

 public:
  explicit memoryless_wait(Operation&& op) noexcept : operation_(std::move(op)) {}
  memoryless_wait(const memoryless_wait&) = delete;
  memoryless_wait& operator=(const memoryless_wait&) = delete;

  bool await_ready() noexcept { return wait_.await_ready(); }
  bool await_suspend(std::coroutine_handle<> handle) noexcept { return wait_.await_suspend(handle); }
  auto await_resume() { return wait_.await_resume(); }

 private:
  Operation operation_;
  inner wait_{std::move(operation_).template wait_in<room>()};
};

}}}  // namespace hocket::detail
