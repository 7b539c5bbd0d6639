// stack_depot, loans to pools: magazines, runs, slabs.
#include <hocket/base/seam/platform/prefetch.hpp>
#include <hocket/stack/stack_depot.hpp>

#include "stack/magazine.hpp"
#include "stack/slab.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

constexpr std::size_t first_slab = 16;
constexpr std::size_t slab_bytes = std::size_t{4} << 30;  // address space, not memory

}  // namespace

namespace detail {

magazine* magazine::make(std::size_t rounds) noexcept {
  void* memory = ::operator new(sizeof(magazine) + rounds * sizeof(free_stack), std::nothrow);
  return memory ? ::new (memory) magazine{nullptr, 0, nullptr} : nullptr;
}

void magazine::free(magazine* self) noexcept { ::operator delete(self); }

}  // namespace detail

// --- warm stacks

std::size_t stack_depot::warm() const noexcept {
  // ORDER: relaxed, pairs with nothing: written under the lock, which the caller holds.
  return warm_.load(std::memory_order_relaxed);
}

void stack_depot::set_warm(std::size_t count) noexcept {
  lowest_ = std::min(lowest_, count);
  // ORDER: relaxed, pairs with the load in has_warm(): a hint without the lock.
  warm_.store(count, std::memory_order_relaxed);
}

void stack_depot::push_warm(free_stack stack) noexcept {
  if (filling_->count == rounds_) {
    push(full_, filling_);
    filling_ = pop(empty_);
  }
  filling_->push(stack);
  set_warm(warm() + 1);
}

detail::free_stack stack_depot::pop_warm() noexcept {
  if (filling_->count == 0) {
    push(empty_, filling_);
    filling_ = pop(full_);
  }
  set_warm(warm() - 1);
  return filling_->pop();
}

void stack_depot::count_in_use(std::size_t more) noexcept {
  counts_.in_use += more;
  counts_.peak = std::max(counts_.peak, counts_.in_use);
}

// --- slabs

void stack_depot::update_oldest_free(stack_slab& slab) noexcept {
  if (slab.has_free() && (!oldest_free_ || slab.older_than(*oldest_free_))) oldest_free_ = &slab;
}

std::error_code stack_depot::lend_run(detail::stack_run& run, std::size_t max_stacks) noexcept {
  while (oldest_free_ && !oldest_free_->has_free()) oldest_free_ = oldest_free_->newer;
  if (!oldest_free_)
    if (std::error_code error = grow()) return error;
  const std::size_t dirty = oldest_free_->dirty_count();
  if (std::error_code error = oldest_free_->lend(run, max_stacks, counts_.unguarded)) {
    if (!run.remaining) return error;
  }
  counts_.dirty -= dirty - oldest_free_->dirty_count();
  count_in_use(static_cast<std::size_t>(std::popcount(run.remaining)));
  return {};
}

// Doubles the number of stacks: many stacks need few mappings, and few stacks need little address space. A slab is
// smaller than `slab_bytes`, unless it has one larger stack.
std::error_code stack_depot::grow() noexcept {
  std::size_t count = std::min(
      {std::max(first_slab, total_), stack_slab::most, std::max<std::size_t>(1, slab_bytes / geometry_.stride)});
  if (options_.layout == stack_layout::dense) count = std::bit_floor(count);  // so that huge pages end with it
  if (limit_ != unlimited) count = std::min(count, limit_ > total_ ? limit_ - total_ : 1);
  auto slab = stack_slab::create(*this, geometry_, options_, count, total_);
  while (!slab && count > 1)  // memory is scarce: try a smaller slab
    slab = stack_slab::create(*this, geometry_, options_, count /= 2, total_);
  if (!slab) return slab.error();
  if (!make_magazines((total_ + (*slab)->count()) / rounds_ + 3)) {
    stack_slab::destroy(*slab);
    return std::make_error_code(std::errc::not_enough_memory);
  }
  (*slab)->older = newest_;
  (newest_ ? newest_->newer : oldest_) = *slab;
  newest_ = oldest_free_ = *slab;
  total_ += newest_->count();
  ++counts_.slabs;
  counts_.reserved += newest_->reserved();
  return {};
}

bool stack_depot::make_magazines(std::size_t needed) noexcept {
  while (magazines_ < needed) {
    magazine* created = magazine::make(rounds_);
    if (!created) {
      free_surplus_magazines();
      return false;
    }
    if (filling_) push(empty_, created);
    else filling_ = created;
    ++magazines_;
  }
  return true;
}

void stack_depot::free_surplus_magazines() noexcept {
  for (const std::size_t needed = total_ / rounds_ + 3; magazines_ > needed && empty_; --magazines_)
    magazine::free(pop(empty_));
}

// --- lending

result<detail::free_stack> stack_depot::take_stack() noexcept {
  if (counts_.in_use >= limit_) return failure(std::errc::resource_unavailable_try_again);
  if (warm() != 0) {
    count_in_use(1);
    return pop_warm();
  }
  detail::stack_run run;
  if (std::error_code error = lend_run(run, 1)) return failure(error);
  const free_stack stack = run.slab->at(run.first + static_cast<std::size_t>(std::countr_zero(run.remaining)));
  if (const stack_ref taken = geometry_.stack(stack); taken.canary) write_canary(taken.low);
  return stack;
}

// Prefers a magazine that this pool returned, if it is one of the last few.
detail::magazine* stack_depot::pop_full(const detail::magazine_cache& cache) noexcept {
  constexpr int few = 16;
  magazine** at = &full_;
  for (int i = 0; i < few && *at; ++i, at = &(*at)->next)
    if ((*at)->last_pool == &cache) return pop(*at);
  return pop(full_);
}

// Lends a whole magazine. The limit must not be near.
void stack_depot::lend_magazine(detail::magazine_cache& cache) noexcept {
  std::swap(cache.loaded, filling_);
  if (cache.loaded->count == 0) {
    push(empty_, cache.loaded);
    cache.loaded = pop_full(cache);
  }
  set_warm(warm() - cache.loaded->count);
  count_in_use(cache.loaded->count);
  if (full_)  // most likely the next loan: prefetches the entries that its pool reads first
    for (std::size_t i = rounds_; i + 16 > rounds_ && i != 0; i -= std::min<std::size_t>(i, 4))
      prefetch(full_->begin() + i - 1);
}

std::error_code stack_depot::lend_some(detail::magazine_cache& cache) noexcept {
  if (cache.run.remaining && warm() == 0) return {};
  const std::size_t remaining = limit_ - std::min(limit_, counts_.in_use);
  const bool near = remaining < rounds_;
  if (crowded_ || remaining == 0 || (near && warm() != 0)) {
    auto taken = take_stack();
    if (!taken) return taken.error();
    cache.loaded->push(*taken);
  } else if (warm() == 0) {
    return lend_run(cache.run, std::min(run_size_, remaining));
  } else {
    lend_magazine(cache);
  }
  return {};
}

std::error_code stack_depot::lend(detail::magazine_cache& cache) noexcept {
  std::error_code error;
  {
    locked guard(mutex_);
    tick();
    error = lend_some(cache);
    if (error) ++counts_.refusals;
    renew_crowded();
    renew(cache);
  }
  give_back(1);
  return error;
}

void stack_depot::exchange_full(detail::magazine_cache& cache) noexcept {
  {
    locked guard(mutex_);
    tick();
    counts_.in_use -= cache.before->count;
    set_warm(warm() + cache.before->count);
    cache.before->last_pool = &cache;
    push(full_, cache.before);
    cache.before = pop(empty_);
    renew(cache);
  }
  give_back(1);
}

void stack_depot::put_all(detail::magazine_cache& cache) noexcept {
  for (magazine* from : {cache.before, cache.loaded}) {
    counts_.in_use -= from->count;
    for (std::size_t i = 0; i < from->count; ++i) push_warm(from->begin()[i]);
    from->count = 0;
  }
  if (!cache.run.remaining) return;
  counts_.in_use -= static_cast<std::size_t>(std::popcount(cache.run.remaining));
  cache.run.slab->put(cache.run);
  update_oldest_free(*cache.run.slab);
  cache.run = {};
}

void stack_depot::take_all(detail::magazine_cache& cache) noexcept {
  stack_waiter* served = nullptr;
  {
    locked guard(mutex_);
    put_all(cache);
    tick();
    served = serve();
    renew_crowded();
    renew(cache);
  }
  wake(served);
}

void stack_depot::take_all_if_crowded(detail::magazine_cache& cache) noexcept {
  stack_waiter* served = nullptr;
  {
    locked guard(mutex_);
    if (!crowded_) return;
    put_all(cache);
    served = serve();
    renew_crowded();
    renew(cache);
  }
  wake(served);
}

// --- pools

bool stack_depot::enroll(detail::magazine_cache& cache) noexcept {
  cache.loaded = magazine::make(rounds_);
  cache.before = magazine::make(rounds_);
  if (!cache.loaded || !cache.before) {
    magazine::free(cache.loaded);
    magazine::free(cache.before);
    return false;
  }
  locked guard(mutex_);
  pools_.push_back(cache);
  ++pool_count_;
  renew_crowded();
  renew(cache);
  return true;
}

void stack_depot::leave(detail::magazine_cache& cache) noexcept {
  take_all(cache);
  {
    locked guard(mutex_);
    list<detail::magazine_cache>::erase(cache);
    --pool_count_;
    renew_crowded();
  }
  magazine::free(cache.loaded);
  magazine::free(cache.before);
}

// Near the limit, the free stacks in pools may be all that are left. (After a lower limit is set, the use can exceed
// it.)
void stack_depot::renew_crowded() noexcept {
  const std::size_t reach = pool_count_ > 1 ? pool_count_ * (2 * rounds_ + run_size_) : 0;
  const bool near = pool_count_ > 1 ? counts_.in_use + reach >= limit_ : counts_.in_use > limit_;
  const bool now = first_waiter_ || near;
  if (now == std::exchange(crowded_, now) || !now) return;
  for (detail::magazine_cache& cache : pools_) {
    // ORDER: relaxed, pairs with the load in stack_pool::release(): see "a wake-up is lost".
    cache.full.store(0, std::memory_order_relaxed);
  }
}

void stack_depot::renew(detail::magazine_cache& cache) noexcept {
  const auto end = reinterpret_cast<std::uintptr_t>(cache.loaded->begin() + rounds_);
  // ORDER: relaxed, pairs with the load in stack_pool::release(), on the same thread.
  cache.full.store(crowded_ ? 0 : end, std::memory_order_relaxed);
}

}}  // namespace hocket
