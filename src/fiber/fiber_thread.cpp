#include <hocket/base/fatal.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/fiber/detail/fiber_thread.hpp>

#include "fiber/depot_metrics.hpp"
#include "fiber/measuring.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct fiber_thread::special {
  special(std::size_t stack_size, stack_layout kind, special* before)
      : layout(kind),
        size_class(stack_depot::class_of(stack_size)),
        pool({.stack_size = stack_size, .layout = kind}),
        next(before) {}
  const stack_layout layout;
  const std::size_t size_class;
  stack_pool pool;
  special* next;
};

struct fiber_thread::listed {
  stack_pool pool;
  listed* next;
};

void fiber_thread::destroy_pools() noexcept {
  while (listed* first = first_pool_) {
    first_pool_ = first->next;
    delete first;
  }
  while (special* first = special_pools_) {
    special_pools_ = first->next;
    delete first;
  }
}

std::uint64_t fiber_thread::stack_generation() noexcept {
  const fiber_thread* thread = current_if_any();
  if (!thread) return 0;
  std::uint64_t generation = reinterpret_cast<std::uintptr_t>(thread) + stack_depot::options_version();
  for (const listed* current = thread->first_pool_; current; current = current->next)
    generation += current->pool.change_count();
  return generation;
}

// Returns unneeded memory of this thread's pools and of the process's depots, which also hold stacks of ended threads.
duration fiber_thread::reclaim_stacks(const clock_source& time) noexcept {
  const fiber_thread* thread = current_if_any();
  duration due = duration::max();
  for (std::size_t size_class = 0; size_class < stack_depot::classes; ++size_class) {
    stack_depot* depot = stack_depot::shared_if_any(size_class);
    if (!depot) continue;
    stack_pool* pool = thread ? thread->pools_[size_class] : nullptr;
    if (depot->uses_clock(time)) due = std::min(due, pool ? pool->maintain() : depot->maintain());
    else if (pool) pool->share();
  }
  return due;
}

stack_pool& fiber_thread::pool_of(std::size_t stack_size) {
  if (stack_size == 0) return default_pool();
  stack_depot& depot = stack_depot::shared(stack_size);  // refuses sizes without a class
  return pool_of_class(stack_depot::class_of(stack_size), depot);
}

stack_pool& fiber_thread::make_default_pool() {
  list_depot_metrics();
  return pool_of_class(default_class, stack_depot::shared());
}

stack_pool& fiber_thread::pool_of_class(std::size_t size_class, stack_depot& depot) {
  stack_pool*& pool = pools_[size_class];
  if (pool) return *pool;
  first_pool_ = new listed{stack_pool(depot), first_pool_};
  pool = &first_pool_->pool;
  pool->measure_use(new_pools_measure());
  return *pool;
}

stack_pool& fiber_thread::pool_of(std::size_t stack_size, stack_kind kind) {
  constexpr std::size_t small = std::bit_ceil(machine::room_to_unwind + 3 * 1024);  // a kill unwinds
  switch (kind) {
    case stack_kind::dense: return special_pool(stack_size ? stack_size : small, stack_layout::dense);
    case stack_kind::copied:
      return special_pool(stack_size ? stack_size : stack_options{}.stack_size, stack_layout::copied);
    default: return pool_of(stack_size);
  }
}

// There are few: one for each requested size.
stack_pool& fiber_thread::special_pool(std::size_t stack_size, stack_layout layout) {
  for (special* current = special_pools_; current; current = current->next)
    if (current->layout == layout && current->size_class == stack_depot::class_of(stack_size)) return current->pool;
  special_pools_ = new special(stack_size, layout, special_pools_);
  return special_pools_->pool;
}

void fiber_thread::post_from_outside(runnable&) noexcept {
  fatal("a raw coroutine was woken by a primitive", "only its owner resumes it: spawn a fiber to wait for primitives");
}

}}}  // namespace hocket::detail
