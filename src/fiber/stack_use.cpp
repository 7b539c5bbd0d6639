#include <hocket/base/seam/atomic.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/detail/fiber_thread.hpp>
#include <hocket/fiber/stack_use.hpp>
#include <hocket/stack/seam/inspection.hpp>

#include "fiber/measuring.hpp"

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

atomic<bool> measuring{false};

}  // namespace

void measure_stacks(bool on) noexcept {
  // ORDER: relaxed, pairs with nothing: a switch that carries no data.
  measuring.store(on, std::memory_order_relaxed);
}

namespace detail {
bool new_pools_measure() noexcept {
  // ORDER: relaxed, pairs with nothing: the same.
  return measuring.load(std::memory_order_relaxed);
}
}  // namespace detail

stack_statistics fiber_stack_statistics(std::size_t stack_size) {
  return fiber_thread::current().pool_of(stack_size).statistics();
}

std::size_t stack_high_water() noexcept {
  const fiber_thread* thread = fiber_thread::current_if_any();
  return thread && thread->running ? high_water_of(stack_pool::stack_of(thread->running)) : 0;
}

std::size_t any_coroutine::stack_high_water() const noexcept {
  return *this ? high_water_of(stack_pool::stack_of(block_)) : 0;
}

}}  // namespace hocket
