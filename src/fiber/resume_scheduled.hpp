// The worker's side of a scheduled fiber's round trip, for both modes of entry.
#pragma once
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>

#include "fiber/look_ahead.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

[[noreturn]] void report_bad_scheduled_resume(control_block& block) noexcept;

// The result of a switch to fibers: the fiber that parked, which need not be the resumed one (a yield may pass the
// thread to the next fiber), and its request. Null: the fiber has finished. Its own control block: it is in the run
// queue already.
struct parked_fiber {
  control_block* block;
  void* request;
};

parked_fiber resume_scheduled_from_handler(control_block& block) noexcept;
parked_fiber resume_scheduled_in_own_floating_point(control_block& block) noexcept;

[[gnu::always_inline]] inline parked_fiber switch_to_scheduled(control_block& block) noexcept {
  fiber_thread& thread = block.thread();
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(block);
  control_block* const outer = thread.running;
  void* const to = block.record;
  block.record = nullptr;
  thread.running = &block;
  if constexpr (switch_annotation::active) annotation->before_resume();
  machine::arrival back = machine::switch_to_in_caller(to, empty_message(block));
  if constexpr (switch_annotation::active) annotation->after_resume();
  control_block* const parked = thread.running;
  parked->record = back.from;
  thread.running = outer;
  if (!thread.exceptions->empty()) [[unlikely]]
    put_fiber_exceptions_away(*parked);
  return {parked, back.transfer};
}

// Runs the fiber, and the fibers to which it passes the thread, until one parks or finishes.
[[gnu::always_inline]] inline parked_fiber resume_scheduled(control_block& block) noexcept {
  fiber_thread& thread = block.thread();
  if constexpr (misuse_checks) {
    if (!block.record || thread.id != machine::thread_id()) [[unlikely]]
      report_bad_scheduled_resume(block);
  }
  if (!thread.exceptions->empty()) [[unlikely]]
    return resume_scheduled_from_handler(block);
  thread_state& state = *thread.state;
  if (state.binding.ready) prefetch_next_fibers(*state.binding.ready);
  state.ctx = block.header.ctx;
  if ((block.header.flags & fiber_flag::at_resume) != 0) [[unlikely]]
    if (before_resume(block)) return resume_scheduled_in_own_floating_point(block);
  return switch_to_scheduled(block);
}

}}}  // namespace hocket::detail
