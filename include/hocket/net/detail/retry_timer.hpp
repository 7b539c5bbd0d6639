// Waits for a call that would block, and of which no edge reports when it would not: a connect or a datagram to a unix
// socket with a full queue. The call is made again after 1 ms, and then after twice the last pause, up to 50 ms.
//
// The operation does not stand in the line of its direction, and makes its further calls without the direction's word.
// So it keeps the descriptor open meanwhile (enter_fd()), and other operations go on: their receivers may have room.
// The first call has left the direction as if it would block for all. begin() takes that back.
//
// The timer is the wait source of its operation, and lies in its memory (retry_storage):
//
//   the time has come   ring() makes the call. If it still would block, then ring() sets the timer again, as its last
//                       step. Otherwise it grants the wait.
//   stop, deadline      detach() takes the timer back. If that fails, ring() has begun or will begin. It finds the wait
//                       decided and drops the hold, in this run, or in the run that this one has set the timer for.
//
// The timer rings on the thread of its executor alone, because only that thread may set it again.
#pragma once
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/io/seam/transfer.hpp>
#include <hocket/primitive.hpp>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor;

class retry_timer final : public primitive::wait_source, private timer_node {
 public:
  retry_timer() noexcept = default;

  // For operations of the kernel's sockets with the destination of a unix socket. A network in memory reports each
  // edge.
  static bool is_needed(const open_descriptor& at, bool to_unix) noexcept;

  // Registrar only, once. `retried` has been tried: its call would block. Without timers it fails with EAGAIN.
  void begin(primitive::suspension& wait, primitive::waiter& entry, transfer& retried) noexcept;

  const char* what() const noexcept override { return "a call that is made again"; }
  [[nodiscard]] bool detach(primitive::waiter& entry) noexcept override;
  void pass_on(primitive::waiter&) noexcept override {}

 private:
  static void ring(timer_node& self, timer_call) noexcept;
  static const timer_kind kind_of_timer;
  void set() noexcept;
  bool try_again() noexcept;

  timer_service* timers_ = nullptr;
  primitive::waiter* entry_ = nullptr;
  transfer* transfer_ = nullptr;
  duration pause_{};
};

// Storage for it in an operation, which is trivially copyable. The timer is made when the wait begins.
class retry_storage {
 public:
  // Once. A wait that begins again has the timer of the first one, with its pause.
  retry_timer& make() noexcept {
    if (is_made_ != 0) return *std::launder(reinterpret_cast<retry_timer*>(bytes_));
    is_made_ = 1;
    return *::new (static_cast<void*>(bytes_)) retry_timer;
  }

 private:
  std::uintptr_t is_made_ = 0;
  // Zeros: an operation on a stack that moves is searched for addresses of that stack (fiber/await.hpp).
  alignas(retry_timer) unsigned char bytes_[sizeof(retry_timer)] = {};
};

}}}  // namespace hocket::detail
