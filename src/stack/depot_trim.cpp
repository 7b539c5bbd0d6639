// stack_depot, trimming: returns memory that was not used for a period.
//
// 1. end_period() condemns the warm stacks that no pool used in the period. All warm stacks return to their slabs, as
//    dirty ones; then as many as may stay warm are taken from the oldest slabs. So the warm stacks occupy few slabs; a
//    choice by recency would keep many slabs mapped. Linear in the warm stacks, a few nanoseconds each.
// 2. give_back() works in batches: a free slab, or the dirty stacks of one word of a slab's map, from the newest slab
// on.
//      under the lock      picks a batch
//      without the lock    unmaps the slab, or discards the pages
//      under the lock      returns the stacks, now cold
//    So no thread waits for the system under the lock, and several threads can work at the same time.
#include <hocket/base/clock.hpp>
#include <hocket/stack/stack_depot.hpp>

#include "stack/slab.hpp"

#include <algorithm>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

constexpr std::size_t batches_at_once = 64;  // of up to 64 stacks: about a millisecond
constexpr std::size_t sample = 64;           // stacks whose pages are counted

}  // namespace

struct stack_depot::batch {
  stack_slab* unmap = nullptr;
  detail::stack_run run;
};

// --- the period

std::size_t stack_depot::floor() const noexcept {
  return std::max(options_.keep, options_.keep_bytes / options_.stack_size);
}

void stack_depot::tick() noexcept {
  if (decay() == duration::max()) return;
  const time_point present = now();
  if (present < period_) period_ = present;  // another clock
  if (present - period_ >= decay()) end_period(present);
}

void stack_depot::end_period(time_point now) noexcept {
  const std::size_t unneeded = std::min(lowest_, warm() - std::min(warm(), floor()));
  if (unneeded != 0) condemn(warm() - unneeded);
  period_ = now;
  lowest_ = warm();
}

void stack_depot::condemn(std::size_t keep) noexcept {
  // Stacks that share pages return them only with the whole slab.
  const bool dirty = geometry_.stride % page_size() == 0 && !geometry_.shared;
  for (; warm() != 0;) {
    const free_stack stack = pop_warm();
    stack_slab& slab = stack_slab::slab_of(stack);
    slab.put(stack, dirty);
    counts_.dirty += dirty;
    update_oldest_free(slab);
  }
  for (stack_slab* slab = oldest_; slab && keep != 0; slab = slab->newer)
    for (; slab->has_dirty() && keep != 0; --keep, --counts_.dirty) push_warm(slab->take_first_dirty());
  // ORDER: relaxed, pairs with the load in give_back(): a hint.
  work_.store(true, std::memory_order_relaxed);
}

// --- giving back

void stack_depot::pick(batch& next) noexcept {
  next = {};
  for (stack_slab* slab = newest_; slab; slab = slab->older) {
    if (slab->wholly_free()) {
      next.unmap = slab;
      return drop(*slab);
    }
    if (!slab->has_dirty()) continue;
    next.run = slab->take_dirty();
    const auto count = static_cast<std::size_t>(std::popcount(next.run.remaining));
    counts_.dirty -= count;
    under_way_ += count;
    return;
  }
  // ORDER: relaxed, pairs with the load in give_back().
  work_.store(false, std::memory_order_relaxed);
}

void stack_depot::drop(stack_slab& slab) noexcept {
  (slab.older ? slab.older->newer : oldest_) = slab.newer;
  (slab.newer ? slab.newer->older : newest_) = slab.older;
  if (oldest_free_ == &slab) oldest_free_ = slab.newer;
  counts_.trimmed += slab.dirty_count();
  counts_.dirty -= slab.dirty_count();
  counts_.reserved -= slab.reserved();
  --counts_.slabs;
  total_ -= slab.count();
  free_surplus_magazines();
}

void stack_depot::give_back(std::size_t batches) noexcept {
  // ORDER: relaxed, pairs with the stores in condemn() and pick(): a thread that misses it leaves the work to others.
  for (; batches != 0 && work_.load(std::memory_order_relaxed); --batches) {
    batch next;
    {
      locked guard(mutex_);
      pick(next);
    }
    if (next.unmap) {
      stack_slab::destroy(next.unmap);
    } else if (next.run.remaining) {
      const bool dropped = next.run.slab->discard(next.run);
      locked guard(mutex_);
      const auto stacks = static_cast<std::size_t>(std::popcount(next.run.remaining));
      under_way_ -= stacks;
      if (dropped) counts_.trimmed += stacks;
      next.run.slab->put(next.run);
      update_oldest_free(*next.run.slab);
    }
  }
}

std::size_t stack_depot::trim() noexcept {
  std::size_t before = 0;
  {
    locked guard(mutex_);
    before = counts_.trimmed;
    condemn(0);
  }
  give_back(~std::size_t{0});
  locked guard(mutex_);
  period_ = now();
  lowest_ = warm();
  return counts_.trimmed - before;
}

duration stack_depot::maintain() noexcept {
  {
    locked guard(mutex_);
    tick();
  }
  give_back(batches_at_once);
  // ORDER: relaxed, pairs with the stores in condemn() and pick().
  if (work_.load(std::memory_order_relaxed)) return duration::zero();
  locked guard(mutex_);
  if (decay() == duration::max() || warm() <= floor()) return duration::max();
  return std::max(duration::zero(), period_ + decay() - now());
}

// --- statistics

// Counts the resident pages of a sample of the stacks that have pages.
std::size_t stack_depot::estimate_committed() const noexcept {
  const std::size_t with_pages = counts_.in_use + warm() + counts_.dirty;
  const std::size_t step = with_pages / sample + 1;
  std::size_t sampled = 0, bytes = 0, cells = 0, index = 0;
  for (const stack_slab* slab = oldest_; slab; slab = slab->newer) {
    cells += slab->count() * stack_slab::cell_size;
    for (index = slab->next_initialized(0); index < slab->count(); index = slab->next_initialized(index + step)) {
      bytes += resident_bytes(slab->pages(index));
      ++sampled;
    }
  }
  return sampled ? bytes / sampled * with_pages + cells : 0;
}

depot_statistics stack_depot::numbers() const noexcept {
  depot_statistics now = counts_;
  now.warm = warm();
  now.cold = total_ - counts_.in_use - counts_.dirty - under_way_ - now.warm;
  return now;
}

depot_statistics stack_depot::counts() const noexcept {
  locked guard(mutex_);
  return numbers();
}

depot_statistics stack_depot::statistics() const noexcept {
  locked guard(mutex_);
  depot_statistics now = numbers();
  now.committed = estimate_committed();
  return now;
}

}}  // namespace hocket
