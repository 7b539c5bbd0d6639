#include <hocket/base/fatal.hpp>
#include <hocket/stack/stack_pool.hpp>

#include "stack/slab.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

// --- life

stack_pool::stack_pool(stack_depot& depot, stack_depot* own)
    : geometry_(depot.geometry_), own_(own), depot_(depot), period_(depot.now()) {
  if (!depot.enroll(cache_)) throw std::bad_alloc();
  load();
}

stack_pool::stack_pool(stack_depot& depot) : stack_pool(depot, nullptr) {}

// A depot that the pool owns; until the pool is constructed, this object owns it.
struct stack_pool::owned_depot {
  stack_depot* depot;
  ~owned_depot() { delete depot; }
};

stack_pool::stack_pool(const stack_options& options) : stack_pool(owned_depot{new stack_depot(options)}) {
  measures_ = options.measure;
}

stack_pool::stack_pool(owned_depot&& own) : stack_pool(*own.depot, own.depot) { own.depot = nullptr; }

stack_pool::~stack_pool() {
  unload();
  depot_.leave(cache_);
  if (!own_) return;
  expects(own_->counts().in_use == 0, "a stack_pool was destroyed while coroutines live on its stacks",
          "destroy the coroutines first: declare the pool before them");
  delete own_;
}

// --- the loaded magazine, in the form that acquire() and release() use

void stack_pool::load() noexcept {
  begin_ = cache_.loaded->begin();
  end_ = begin_ + cache_.loaded->count;
}

void stack_pool::unload() noexcept { cache_.loaded->count = static_cast<std::size_t>(end_ - begin_); }

// Loads the other magazine. If the depot has become crowded meanwhile, `full` remains 0.
void stack_pool::swap() noexcept {
  auto before = reinterpret_cast<std::uintptr_t>(begin_ + depot_.rounds_);
  unload();
  std::swap(cache_.loaded, cache_.before);
  load();
  // ORDER: relaxed, pairs with the store in stack_depot::renew_crowded(): neither guards anything else.
  cache_.full.compare_exchange_strong(before, reinterpret_cast<std::uintptr_t>(begin_ + depot_.rounds_),
                                      std::memory_order_relaxed);
}

// --- slow paths

result<stack_ref> stack_pool::acquire_slowly() noexcept {
  if (cache_.before->count != 0) {
    swap();
    prefetch_last();
    return pop();
  }
  if (!cache_.run.remaining || depot_.has_warm()) {
    visited_ = true;
    unload();
    const std::error_code error = depot_.lend(cache_);
    load();
    if (error && !cache_.run.remaining) return failure(error);
  }
  if (end_ == begin_) return take_from_run();
  prefetch_last();
  return pop();
}

// Prefetches the stacks that pop() has not prefetched, because another magazine was loaded.
void stack_pool::prefetch_last() const noexcept {
  const free_stack* first = end_ - std::min(end_ - begin_, ahead);
  for (const free_stack* stack = end_; stack != first;) prefetch(*--stack);
}

result<stack_ref> stack_pool::take_from_run() noexcept {
  detail::stack_run& run = cache_.run;
  const auto bit = static_cast<std::size_t>(std::countr_zero(run.remaining));
  run.remaining &= run.remaining - 1;
  const stack_ref stack = geometry_.stack(run.slab->at(run.first + bit));
  unpoison_memory(stack.low, stack.size());
  if (stack.canary) write_canary(stack.low);
  ++fresh_;
  count_acquired();
  return stack;
}

void stack_pool::release_slowly(const stack_ref& stack) noexcept {
  // ORDER: relaxed, pairs with the store in stack_depot::renew_crowded().
  if (cache_.full.load(std::memory_order_relaxed) == 0) {
    --live_;
    transfers_ += 4;
    unload();
    depot_.take_all(cache_);
    load();
    return depot_.release(stack);
  }
  if (cache_.before->count == 0) {
    swap();
  } else {
    visited_ = true;
    transfers_ += 4;
    unload();
    depot_.exchange_full(cache_);
    swap();
  }
  push(stack);
}

// --- trimming

void stack_pool::flush() noexcept {
  unload();
  depot_.take_all(cache_);
  load();
}

std::size_t stack_pool::trim() noexcept {
  flush();
  return depot_.trim();
}

void stack_pool::share() noexcept {
  if (!holds_any()) return;
  unload();
  depot_.take_all_if_crowded(cache_);
  load();
}

// If the magazines of a pool were enough for a whole period, the pool has more stacks than it needs. It returns all of
// them, and takes a magazine of the oldest slabs when it needs stacks again.
duration stack_pool::maintain() noexcept {
  const time_point now = depot_.now();
  if (now < period_) period_ = now;
  const bool over = depot_.decay() != duration::max() && now - period_ >= depot_.decay();
  if (over) period_ = now;
  if (over && holds_any() && !std::exchange(visited_, false)) flush();
  else share();
  const duration due = depot_.maintain();
  due_reported_ = holds_any() && depot_.decay() != duration::max();
  return due_reported_ ? std::min(due, period_ + depot_.decay() - now) : due;
}

stack_statistics stack_pool::statistics() const noexcept {
  const depot_statistics all = depot_.counts();
  const std::size_t cached = static_cast<std::size_t>(end_ - begin_) + cache_.before->count;
  return {live_,         peak_,      cached + (own_ ? all.warm : 0), warm_, fresh_, all.slabs, all.reserved,
          all.unguarded, high_water_};
}

}}  // namespace hocket
