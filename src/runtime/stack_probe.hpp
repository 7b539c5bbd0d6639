// The stack of a stalled worker: a signal interrupts it, and its handler copies where it is.
//
// # The copy
//
//   frames    the interrupted instruction, then return addresses, innermost first, by the unwind tables
//             (platform/interrupted_code.hpp). Each frame must lie on a known stack: the worker's own, a fiber's, a
//             called one. On the same stack each caller lies above its callee. The walk ends at the first frame that
//             cannot be right, so an address is right or absent.
//   awaiters  the functions of the tasks that wait for the task that runs, innermost first. They are not on the stack.
//             The frame of the running task is a word on the stack, or a register: that word points to a task's header
//             whose context belongs to the running coroutine, and its *resume* is a function on the stack. If several
//             words fit, all but one must await it, directly or not. Else the chain is unknown, and empty.
//
// Everything but the stack itself is read through the kernel (copy_memory()), because a word may be anything.
//
// # Protocol
//
//   the stall detector                                   the worker, in the handler
//   1. request: the word becomes `requested`, with a number
//   2. sends the signal with that number
//   3. waits for `copied`, for the patience at most       1. the number and `requested` fit: the word becomes `copying`
//   4. it is late: `requested` becomes `idle`, by a          2. if the worker is still in the turn and the context of
//   the
//      compare-exchange. If that fails, the handler         stall, copies
//      runs, and ends soon: waits for `copied`            3. the word becomes `copied`, and wakes the detector
//   5. reads the copy
//
// A signal that arrives late (the worker's code has blocked it) finds another number, or `idle`, and does nothing. The
// probe is the worker's and lives until its thread has ended, so a late handler finds it, too.
//
// # Hazards
//
//   - If the handler took a lock that the interrupted code holds, then it would wait for ever. Prevented: it calls only
//   async-signal-safe
//     functions, and unwinds only where that takes no lock.
//   - If the worker has returned from the coroutine meanwhile, then its stack is another coroutine's. Prevented: the
//     handler compares the turn and the context.
//   - The signal ends calls of the system that SA_RESTART does not restart (nanosleep, poll): documented with the
//     option.
//
// Access. take(): one thread at a time. The constructor, begin(): the worker's thread or before it. on_signal(): the
// handler.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/time_point.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <array>
#include <cstddef>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct interrupted_code;
struct native_frame;

class stack_probe {
 public:
  // Of a stall: the turn and the context that the worker is in.
  struct activity_mark {
    std::size_t turn;
    const context* running;
  };

  stack_probe() noexcept = default;
  stack_probe(const stack_probe&) = delete;
  stack_probe& operator=(const stack_probe&) = delete;

  // The worker, before it runs anything.
  void begin() noexcept;

  // Has the handler copy the stack of the worker, if it is still in `stalled`. False: it is not, or there was no answer
  // in time. interrupt(number) sends the signal, and gives whether it was sent.
  template <class Interrupt>
  bool take(activity_mark stalled, duration patience, Interrupt interrupt) noexcept {
    const std::uint32_t number = request(stalled);
    return receive(number, interrupt(number) ? patience : duration::zero());
  }
  std::span<const void* const> frames() const noexcept { return std::span(frames_).first(frame_count_); }
  std::span<const void* const> awaiters() const noexcept { return std::span(awaiters_).first(awaiter_count_); }

  // The handler, on the worker's thread, with the present turn and context of the worker. False: there is no request.
  bool on_signal(std::uint32_t number, activity_mark present, const void* context) noexcept;

 private:
  static constexpr std::size_t most = 64;
  enum phase : std::uint32_t { idle, requested, copying, copied };
  static constexpr std::uint32_t word_of(std::uint32_t number, phase now) noexcept { return number << 2 | now; }

  std::uint32_t request(activity_mark stalled) noexcept;
  bool receive(std::uint32_t number, duration patience) noexcept;
  void copy(const interrupted_code& code) noexcept;
  static bool visit(void* self, const native_frame& frame) noexcept;
  bool add(const native_frame& frame) noexcept;
  bool has_function(std::uintptr_t function) const noexcept;
  void find_awaiters(const interrupted_code& code) noexcept;
  template <class Visit>
  void visit_stack(std::uintptr_t stack_pointer, Visit visit) const noexcept;

  stack_bounds own_stack_;  // of the worker's thread
  atomic<std::uint32_t> word_{idle};
  std::uint32_t number_ = 0;  // the detector's
  activity_mark stalled_{};   // written before `requested`
  // Written in the handler, read after `copied`.
  std::array<const void*, most> frames_{};
  std::array<std::uintptr_t, most> functions_{};
  std::array<const void*, most> awaiters_{};
  std::size_t frame_count_ = 0;
  std::size_t awaiter_count_ = 0;
  bool fits_ = false;        // the worker was still in the stall
  stack_bounds stack_;       // of the frame that was visited last
  std::uintptr_t last_ = 0;  // its stack pointer
};

}}}  // namespace hocket::detail
