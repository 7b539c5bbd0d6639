// The begin and the end of the common state of the fibers of one thread.
#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/thread/seam/housekeeping.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>
#include <hocket/fiber/detail/fiber_local_list.hpp>
#include <hocket/fiber/detail/fiber_thread.hpp>
#include <hocket/stack/seam/inspection.hpp>

#include "fiber/idle_fibers.hpp"
#include "fiber/overflow_report.hpp"

#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

stack_bounds bounds_of_cell(std::uintptr_t address) noexcept {
  void* const cell = cell_on(address);
  if (!cell) return {};
  const stack_ref stack = stack_pool::stack_of(cell);
  return {reinterpret_cast<std::uintptr_t>(stack.low), reinterpret_cast<std::uintptr_t>(stack.top)};
}

// Before main(), and so before the first fiber.
[[maybe_unused]] const bool locator_installed = (set_stack_locator(&bounds_of_cell), true);

}  // namespace

struct fiber_thread::exit_hook : thread_exit_hook {
  static void end(thread_exit_hook& self) noexcept {
    auto* thread = static_cast<fiber_thread*>(in_current_slot<thread_slot::fiber>());
    destroy_fiber_locals(thread->locals);
    set_current_slot(thread_slot::fiber, nullptr);
    thread->ended_ = true;
    thread->for_signals_.remove();
    if (thread->live == 0) delete thread;
    else expect_to_last(thread);
    delete static_cast<exit_hook*>(&self);
  }
};

fiber_thread::fiber_thread() noexcept
    : forks(debug_checks ? forks_so_far() : 0),
      state(&this_thread()),
      exceptions(&current_exception_globals()),
      id(machine::thread_id()) {}

fiber_thread::~fiber_thread() {
  delete idle;
  destroy_pools();
}

void fiber_thread::delete_self() noexcept { delete this; }

fiber_thread& fiber_thread::make_current() {
  auto* at_exit = new exit_hook{{&exit_hook::end}};
  auto* thread = new (std::nothrow) fiber_thread;
  if (!thread) {
    delete at_exit;
    throw std::bad_alloc();
  }
  set_current_slot(thread_slot::fiber, thread);
  if (!at_thread_exit(*at_exit)) delete at_exit;  // the state is never destroyed
  prepare_overflow_report(thread->for_signals_);
  static constexpr housekeeper stack_housekeeper{&stack_generation, &reclaim_stacks};
  register_housekeeper(stack_housekeeper);
  return *thread;
}

}}}  // namespace hocket::detail
