// The stack of a stalled worker. A signal interrupts the worker, and the signal's handler copies the addresses of the
// worker's frames.
//
// # The copy
//
//   frames    the interrupted instruction, then return addresses, innermost first, by the unwind tables
//             (platform/interrupted_code.hpp). Each frame must lie on a known stack: the worker's own, a fiber's, a
//             called one. On the same stack each caller lies above its callee. The walk ends at the first frame that
//             cannot be right, so an address is right or absent.
//   awaiters  the functions of the tasks that wait for the task that runs, innermost first. These functions are not on
//             the stack. The frame of the running task is a word on the stack, or a register: the word points to a
//             task's header whose context belongs to the running coroutine, and the *resume* of that task is a function
//             on the stack. If several words fit, one of these tasks must be the innermost: all others await it,
//             directly or not. Else the chain is unknown, and empty.
//
// The search for awaiters reads all memory through the kernel (copy_memory()), because a word may be anything, and
// because a sanitizer forbids to read some words of a stack.
//
// # Protocol
//
//   the stall detector                                the worker, in the handler
//   1. the word becomes `requested`, with a number    1. if the word is `requested` with this number, the word becomes
//   2. sends the signal with that number                 `copying`; else the handler returns
//   3. waits for `copied`, at most for `patience`     2. if the worker is still in the turn and the context of the
//   4. if that time is over: `requested` becomes         stall, the handler copies
//      `idle`, by a compare-exchange. If that         3. the word becomes `copied`; wakes the detector
//      fails, the handler runs and will end soon:
//      waits for `copied`
//   5. reads the copy
//
// If a signal arrives late, because the worker's code has blocked signals, then the handler finds another number, or
// `idle`, and does nothing. The worker owns the probe until its thread has ended, so the probe exists for a late
// handler.
//
// # Hazards
//
//   - If the handler took a lock that the interrupted code holds, then the handler would wait for ever. Prevented: the
//     handler calls only async-signal-safe functions, and unwinds only where unwinding takes no lock.
//   - If the worker has returned from the coroutine meanwhile, then its stack is another coroutine's. Prevented: the
//     handler compares the turn and the context.
//   - The signal ends calls of the system that SA_RESTART does not restart (nanosleep, poll). Not prevented: the option
//     says so.
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
  // A stall: the turn and the context that the worker is in.
  struct activity_mark {
    std::size_t turn;
    const context* running;
  };

  stack_probe() noexcept = default;
  stack_probe(const stack_probe&) = delete;
  stack_probe& operator=(const stack_probe&) = delete;

  // The worker, before it runs anything.
  void begin() noexcept;

  // Makes the handler copy the stack of the worker, if the worker is still in `stalled`. False: the worker is not, or
  // the handler did not run in time. interrupt(number) sends the signal, and returns whether the signal was sent.
  template <class Interrupt>
  bool take(activity_mark stalled, duration patience, Interrupt interrupt) noexcept {
    const std::uint32_t number = request(stalled);
    return receive(number, interrupt(number) ? patience : duration::zero());
  }
  std::span<const void* const> frames() const noexcept { return std::span(frames_).first(frame_count_); }
  std::span<const void* const> awaiters() const noexcept { return std::span(awaiters_).first(awaiter_count_); }

  // The handler, on the worker's thread, with the present turn and context of the worker. False: there is no request
  // with this number.
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
  std::uintptr_t last_ = 0;  // the stack pointer of that frame
};

}}}  // namespace hocket::detail
