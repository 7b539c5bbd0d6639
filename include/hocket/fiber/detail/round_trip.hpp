// The two sides of a raw fiber's round trip: enter() and park().
//
// Only the resumer's side moves the exception state of a thread (context/detail/exception_globals.hpp), if it is not
// empty: before the switch it saves its own, and after the switch it saves the fiber's from the thread's globals. So
// the fiber's side does nothing for it, and the usual case costs two loads and a branch at each occasion.
#pragma once
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The rare parts of a switch, out of line.
[[nodiscard]] bool before_resume(control_block& block) noexcept;  // true: the fiber has a floating-point environment
[[nodiscard]] bool before_enter(control_block& block) noexcept;   // like before_resume(), for a raw fiber
void* enter_in_own_floating_point(control_block& block, void* transfer) noexcept;
void put_fiber_exceptions_away(control_block& block) noexcept;
void* enter_from_handler(control_block& block, void* transfer) noexcept;
void* enter_late(control_block& block, void* transfer) noexcept;
[[noreturn]] void report_bad_resume(const control_block& block) noexcept;
[[noreturn]] void report_bad_yield(const fiber_record& record) noexcept;

// The transfer of a side without a value. Null has a meaning already: from the fiber "finished", from the resumer
// "unwind".
inline void* empty_message(control_block& block) noexcept { return &block; }

// The annotation of a switch, for sanitizers that need one. To find it costs more than the switch.
[[gnu::always_inline]] inline switch_annotation* annotation_of(control_block& block) noexcept {
  if constexpr (switch_annotation::active) return &fiber_record::from_block(block).annotation;
  else return nullptr;
}

// Both sides of a switch contain real calls (the rare parts), as its in_caller form requires.
[[gnu::always_inline]] inline void* switch_to_fiber(control_block& block, fiber_thread& thread,
                                                    void* transfer) noexcept {
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(block);
  control_block* const outer = thread.running;
  void* const to = block.record;
  block.record = nullptr;
  machine::store_stack_pointer(block.header.continuation.next);
  thread.running = &block;
  if constexpr (switch_annotation::active) annotation->before_resume();
  machine::arrival back = machine::switch_to_in_caller(to, transfer);
  if constexpr (switch_annotation::active) annotation->after_resume();
  block.record = back.from;
  fiber_thread& current = block.thread();  // loaded again: over the switch it would take a register from the caller
  current.running = outer;
  if (!current.exceptions->empty()) [[unlikely]]
    put_fiber_exceptions_away(block);
  return back.transfer;
}

// The resumer's side of a round trip: runs the fiber until it yields or finishes. Returns its transfer.
[[gnu::always_inline]] inline void* enter(control_block& block, fiber_thread& thread, void* transfer) noexcept {
  if (!thread.exceptions->empty()) [[unlikely]]
    return enter_from_handler(block, transfer);
  if (block.header.flags & thread.rare) [[unlikely]]
    if (before_enter(block)) return enter_in_own_floating_point(block, transfer);
  return switch_to_fiber(block, thread, transfer);
}

// Like enter(), for an owner, and fatal if the owner must not resume it. If the thread is found inline, it is compared
// with the block, so that loads from the thread need not wait for the block.
[[gnu::always_inline]] inline void* resume_by_owner(control_block& block, void* transfer) noexcept {
  if constexpr (!misuse_checks) {
    return enter(block, block.thread(), transfer);
  } else if constexpr (finds_thread_in_line) {
    fiber_thread* const current = fiber_thread::current_if_any();
    if (!block.record || block.header.continuation.home != current) [[unlikely]]
      return enter_late(block, transfer);
    return enter(block, *current, transfer);
  } else {
    if (!block.record || block.thread().id != machine::thread_id()) [[unlikely]]
      report_bad_resume(block);
    return enter(block, block.thread(), transfer);
  }
}

// The fiber's side: parks the fiber, switches to `resumer`, and returns at the next resume, when `resumer` is the new
// resumer. Throws if the fiber must unwind.
[[gnu::always_inline]] inline void* park(control_block& block, fiber_record& record, void*& resumer, void* transfer) {
  if constexpr (misuse_checks) {
    if (block.thread().running != &block) [[unlikely]]
      report_bad_yield(record);
  }
  record.annotation.before_yield();
  machine::arrival back = machine::switch_to_in_caller(resumer, transfer);
  record.annotation.after_yield();
  resumer = back.from;
  if (!back.transfer) [[unlikely]]
    throw_unwinding();
  return back.transfer;
}

}}}  // namespace hocket::detail
