#include <hocket/base/fatal.hpp>
#include <hocket/fiber/detail/packing.hpp>
#include <hocket/fiber/detail/resume_order.hpp>
#include <hocket/fiber/detail/round_trip.hpp>

#include "fiber/canary.hpp"
#include "fiber/own_floating_point.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

exception_globals take(exception_globals& live) noexcept { return std::exchange(live, {nullptr, 0}); }

// A fiber with fiber_flag::idle is about to run.
[[gnu::noinline]] void wake_idle(control_block& block) noexcept {
  if (is_packed(block)) unpack(block);
  block.header.reserved &= ~stack_bit::aged;
  block.header.flags &= static_cast<std::uint8_t>(~fiber_flag::idle);
  if (!block.record) report_bad_resume(block);  // a finished one
}

}  // namespace

bool before_resume(control_block& block) noexcept {
  if (block.header.flags & fiber_flag::idle) wake_idle(block);
  check_canary(block);
  if (block.header.flags & fiber_flag::keeps_exceptions) {
    *block.thread().exceptions = fiber_record::from_block(block).exceptions;
    block.header.flags &= static_cast<std::uint8_t>(~fiber_flag::keeps_exceptions);
  }
  return (block.header.reserved & special_bit::own_floating_point) != 0;
}

bool before_enter(control_block& block) noexcept {
  foresee(block);
  return (block.header.flags & fiber_flag::at_resume) && before_resume(block);
}

void* enter_in_own_floating_point(control_block& block, void* transfer) noexcept {
  own_floating_point_scope own(fiber_record::from_block(block));
  return switch_to_fiber(block, block.thread(), transfer);
}

void put_fiber_exceptions_away(control_block& block) noexcept {
  fiber_record::from_block(block).exceptions = take(*block.thread().exceptions);
  block.header.flags |= fiber_flag::keeps_exceptions;
}

void* enter_from_handler(control_block& block, void* transfer) noexcept {
  exception_globals& live = *block.thread().exceptions;
  exception_globals own = take(live);
  void* sent = enter(block, block.thread(), transfer);
  live = own;
  return sent;
}

// For a thread that is ending: its fiber_thread is no longer found, and its static objects may still resume.
void* enter_late(control_block& block, void* transfer) noexcept {
  if (!block.record || block.thread().id != machine::thread_id()) report_bad_resume(block);
  return enter(block, block.thread(), transfer);
}

void report_bad_resume(const control_block& block) noexcept {
  if (&block == &vacant_block)
    fatal("an empty coroutine was resumed", "it was moved from or never made: ask `if (coroutine)` first");
  const char* name = fiber_record::from_block(const_cast<control_block&>(block)).name;
  if (block.finished())
    fatal("a finished coroutine was resumed", "its result was given by the resume that finished it: ask done() first",
          name);
  if (block.thread().id != machine::thread_id())
    fatal("a coroutine was resumed by a thread that did not create it",
          "a raw coroutine stays on its thread: create it where it runs, or spawn a fiber", name);
  if (block.thread().running == &block)
    fatal("a coroutine resumed itself", "only code outside of it can resume it: use self.yield to go back", name);
  fatal("a running coroutine was resumed", "it waits for a coroutine that it resumed: let that one yield first", name);
}

void report_bad_yield(const fiber_record& record) noexcept {
  fatal("yield was called outside of its coroutine",
        "`self` belongs to the body that was given it: yield there, and on its own stack", record.name);
}

}}}  // namespace hocket::detail
