#include <hocket/base/fatal.hpp>
#include <hocket/context/switch.hpp>
#include <hocket/core/current.hpp>
#include <hocket/fiber/fiber_local.hpp>
#include <hocket/fiber/fiber_thread.hpp>

#include "fiber/measuring.hpp"
#include "fiber/overflow_report.hpp"

#include <new>

namespace hocket::inline HOCKET_ABI {

struct fiber_thread::exit_hook : thread_exit_hook {
  static void end(thread_exit_hook& self) noexcept {
    auto* thread = static_cast<fiber_thread*>(current_slot(thread_slot::fiber));
    detail::destroy_fiber_locals(thread->locals);
    current_slot(thread_slot::fiber) = nullptr;
    thread->ended_ = true;
    thread->for_signals_.remove();
    if (thread->live == 0) delete thread;
    delete static_cast<exit_hook*>(&self);
  }
};

struct fiber_thread::sized_pool {
  stack_pool stacks;
  sized_pool* next;
};

fiber_thread::fiber_thread() noexcept
    : state(&this_thread()), exceptions(&current_exception_globals()), id(machine::thread_id()) {}

fiber_thread::~fiber_thread() {
  while (sized_pool* first = sized_pools_) {
    sized_pools_ = first->next;
    delete first;
  }
  delete default_pool_;
}

void fiber_thread::one_less() noexcept {
  if (--live == 0 && ended_) delete this;
}

fiber_thread* fiber_thread::current_if_any() noexcept {
  return static_cast<fiber_thread*>(current_slot(thread_slot::fiber));
}

fiber_thread& fiber_thread::current() {
  if (fiber_thread* known = current_if_any()) [[likely]]
    return *known;
  auto* hook = new exit_hook{{&exit_hook::end}};
  auto* made = new (std::nothrow) fiber_thread;
  if (!made) {
    delete hook;
    throw std::bad_alloc();
  }
  current_slot(thread_slot::fiber) = made;
  at_thread_exit(*hook);
  prepare_overflow_report(made->for_signals_);
  return *made;
}

stack_pool& fiber_thread::default_pool() {
  if (!default_pool_) default_pool_ = new stack_pool({.measure = new_pools_measure()});
  return *default_pool_;
}

stack_pool& fiber_thread::pool_of(std::size_t stack_size) {
  if (stack_size == 0) return default_pool();
  constexpr std::size_t page = 4096;
  const std::size_t rounded = (stack_size + page - 1) / page * page;
  for (sized_pool* at = sized_pools_; at; at = at->next)
    if (at->stacks.options().stack_size == rounded) return at->stacks;
  sized_pools_ = new sized_pool{stack_pool({.stack_size = rounded, .measure = new_pools_measure()}), sized_pools_};
  return sized_pools_->stacks;
}

void fiber_thread::post(runnable&) noexcept {
  fatal("a raw coroutine was woken by a primitive", "only its owner resumes it: spawn a fiber to wait for primitives");
}

}  // namespace hocket::inline HOCKET_ABI
