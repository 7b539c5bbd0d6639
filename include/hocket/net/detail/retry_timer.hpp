// Waits for a call that would block, and for which no edge reports when it would succeed: a connect or a datagram to a
// unix socket with a full queue. The timer repeats the call after 1 ms, and then after twice the last pause, up to
// 50 ms.
//
// The operation is not linked in the queue of its direction, and repeats its call without the direction's word. Before
// each call it enters the fd (enter_fd()), so a concurrent close cannot free the fd's number. Other operations of the
// direction continue: their receivers may have room. The first call has recorded in the direction that it would block
// for all. begin() revokes that by an edge.
//
// The timer is the wait source of its operation, and is stored in the operation (retry_storage):
//
//   expiry              on_expiry() makes the call. If the call would block again, on_expiry() arms the timer, as its
//                       last step. Otherwise it grants the wait.
//   stop, deadline      detach() removes the timer. If that fails, on_expiry() has begun or will begin. It finds the
//                       wait decided and drops the hold, in this run, or in the run for which this one has armed the
//                       timer.
//
// The timer expires only on the thread of its executor, because only that thread may arm it again.
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

  // For operations of the kernel's sockets whose destination is a unix socket. A network in memory reports each edge.
  static bool is_needed(const open_descriptor& record, bool to_unix) noexcept;

  // Registrar only, once. `operation` has been tried, and its call would block. Without timers the operation fails with
  // EAGAIN.
  void begin(primitive::suspension& wait, primitive::waiter& entry, transfer& operation) noexcept;

  const char* what() const noexcept override { return "a retried call"; }
  [[nodiscard]] bool detach(primitive::waiter& entry) noexcept override;
  void pass_on(primitive::waiter&) noexcept override {}

 private:
  static void on_expiry(timer_node& self, timer_call) noexcept;
  static const timer_kind kind_of_timer;
  void arm() noexcept;
  bool try_again() noexcept;

  timer_service* timers_ = nullptr;
  primitive::waiter* entry_ = nullptr;
  transfer* transfer_ = nullptr;
  duration pause_{};
};

// Storage for a retry_timer in an operation, trivially copyable. The timer is constructed when the wait begins.
class retry_storage {
 public:
  // Constructs the timer. A wait that begins again gets the timer of the first wait, with its pause.
  retry_timer& make() noexcept {
    if (is_constructed_ != 0) return *std::launder(reinterpret_cast<retry_timer*>(bytes_));
    is_constructed_ = 1;
    return *::new (static_cast<void*>(bytes_)) retry_timer;
  }

 private:
  std::uintptr_t is_constructed_ = 0;
  // Zeros: in operations on a stack that moves, fiber/await.hpp searches for addresses of that stack.
  alignas(retry_timer) unsigned char bytes_[sizeof(retry_timer)] = {};
};

}}}  // namespace hocket::detail
