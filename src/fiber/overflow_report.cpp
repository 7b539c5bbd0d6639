#include "fiber/overflow_report.hpp"

#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/text_writer.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/detail/called_stack.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/fiber/detail/fiber_record.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <hocket/fiber/overflow_report.hpp>
#include <hocket/stack/seam/inspection.hpp>

#include <sys/prctl.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

atomic<bool> report{true};

bool report_is_on() noexcept {
  // ORDER: relaxed, pairs with nothing: a switch that carries no data.
  return report.load(std::memory_order_relaxed);
}

// The stack of the faulting code. All state here is read in a signal handler, on its own thread, so it does not change.
struct stack_in_use {
  stack_ref stack;      // empty: not a stack of hocket
  fiber_record* fiber;  // the running fiber; null: a plain thread
  bool called;          // by call_on_stack

  bool holds(std::uintptr_t address) const noexcept {
    return reinterpret_cast<std::uintptr_t>(stack.low) <= address &&
           address < reinterpret_cast<std::uintptr_t>(stack.top);
  }
  std::size_t stack_size() const noexcept { return stack_depot::depot_of(stack.cell).stack_size(); }
};

stack_in_use current_stack(const fiber_thread& thread) noexcept {
  fiber_record* fiber = thread.running ? &fiber_record::from_block(*thread.running) : nullptr;
  if (const called_stack* call = fiber ? fiber->calls : thread.calls) return {call->stack, fiber, true};
  if (fiber) return {stack_pool::stack_of(fiber->block), fiber, false};
  return {{}, nullptr, false};
}

void write_subject(text_writer& out, const stack_in_use& stack) noexcept {
  if (stack.fiber) out.literal(" [coroutine ").text(stack.fiber->name).literal("]");
  out.end_line();
}

void write_spawned(text_writer& out, const stack_in_use& stack) noexcept {
  if (!stack.fiber || !(stack.fiber->block->header.flags & fiber_flag::scheduled)) return;
  const scheduled& spawned = scheduled_fiber::from_block(*stack.fiber->block).activity();
  if (spawned.spawned().line() != 0)
    out.literal("; spawned at ").path(spawned.spawned().file_name()).literal(":").number(spawned.spawned().line());
  else if (spawned.spawned_by())
    out.literal("; spawned by the code at ").hexadecimal(reinterpret_cast<std::uintptr_t>(spawned.spawned_by()));
}

void write_figures(text_writer& out, const stack_in_use& stack, const memory_fault& fault) noexcept {
  const auto top = reinterpret_cast<std::uintptr_t>(stack.stack.top);
  out.literal("  stack_size ").number(stack.stack_size());
  if (fault.stack_pointer != 0)
    out.literal("; ").number(top - fault.stack_pointer).literal(" bytes in use at the fault");
  out.literal("; high-water mark ").number(high_water_of(stack.stack));
  write_spawned(out, stack);
  out.end_line();
}

void write_overflow(text_writer& out, const stack_in_use& stack, const memory_fault& fault) noexcept {
  out.literal("hocket: the stack of a ").literal(stack.called ? "call_on_stack" : "coroutine").literal(" overflowed");
  write_subject(out, stack);
  write_figures(out, stack, fault);
  out.literal("  remedy: give ")
      .literal(stack.called ? "the call a stack of " : "it a stack_size of ")
      .number(2 * stack.stack_size());
  out.literal(" bytes or more");
  if (!stack.called) out.literal(", or make its one deep call by call_on_big_stack");
  out.literal("; a recursion that").end_line();
  out.literal("  does not end overflows any stack. Compile with -fstack-clash-protection: a frame larger than a page");
  out.end_line().literal("  may miss the guard page").end_line();
}

void write_stray(text_writer& out, const stack_in_use& stack, const memory_fault& fault) noexcept {
  out.literal("hocket: an access below the stack of a ").literal(stack.called ? "call_on_stack" : "coroutine");
  out.literal(" hit its guard page");
  write_subject(out, stack);
  write_figures(out, stack, fault);
  out.literal(
      "  remedy: the stack had room: a pointer or an index went below an object on it. -fsanitize=address finds");
  out.end_line().literal("  the place").end_line();
}

// An access to a packed stack, by another thread, another fiber, or a callback.
void explain_hibernated(const memory_fault& fault) noexcept {
  auto* owner = static_cast<const control_block*>(cell_at(fault.address));
  if (!owner || (owner->header.reserved & stack_bit::guarded) == 0) return;
  const char* name = owner->header.flags & fiber_flag::scheduled ? owner->header.ctx->name() : "a raw one";
  text_writer out(STDERR_FILENO);
  out.literal("hocket: an access to the stack of a coroutine that hibernates [coroutine ").text(name).literal("]");
  out.end_line().literal("  remedy: a pointer to one of its variables was handed to code that runs while it waits:");
  out.end_line().literal("  allocate that variable elsewhere, or spawn the fiber without hibernate_after").end_line();
}

// A task's calls run on the stack of its worker.
void explain_thread() noexcept {
  char name[16] = {};
  ::prctl(PR_GET_NAME, name);
  text_writer out(STDERR_FILENO);
  out.literal("hocket: the stack of a thread overflowed [thread ").text(name).literal("]").end_line();
  out.literal(
      "  remedy: make the deep call by call_on_big_stack, or raise the limit of the system (ulimit -s); a recursion");
  out.end_line().literal("  that does not end overflows any stack").end_line();
}

// In the signal handler.
void explain(const memory_fault& fault) noexcept {
  if (!report_is_on()) return;
  const fiber_thread* thread = fiber_thread::current_if_any();
  const stack_in_use stack = thread ? current_stack(*thread) : stack_in_use{{}, nullptr, false};
  const stack_fault kind = stack.stack.low ? judge_fault(fault, stack.stack.low) : stack_fault::foreign;
  if (kind == stack_fault::foreign) {
    const bool on_thread = !stack.holds(fault.stack_pointer) && ran_off_stack(fault);
    return on_thread ? explain_thread() : explain_hibernated(fault);
  }
  text_writer out(STDERR_FILENO);
  if (kind == stack_fault::overflow) write_overflow(out, stack, fault);
  else write_stray(out, stack, fault);
}

}  // namespace

void set_overflow_report(bool on) noexcept {
  // ORDER: relaxed, pairs with nothing: a switch that carries no data.
  report.store(on, std::memory_order_relaxed);
}

namespace detail {
void prepare_overflow_report(signal_stack& own) noexcept {
  if constexpr (machine::fibers_are_threads) return;
  if (!report_is_on()) return;
  watch_faults(&explain);
  own.install();
}
}  // namespace detail

}}  // namespace hocket
