#include "runtime/worker_watch.hpp"

#include <hocket/core/thread/seam/current.hpp>

#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/platform/thread_name.hpp"

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

worker_watch::worker_watch(worker_list& pool)
    : pool_(pool), seen_(pool.workers.size(), slept), thread_([this] { run(); }) {}

worker_watch::~worker_watch() {
  // ORDER: relaxed, pairs with the load in run(): the epoch of the watch orders it.
  over_.store(true, std::memory_order_relaxed);
  pool_.arm_watch();
  join(thread_);
}

void worker_watch::run() noexcept {
  const exit_hook_scope ending;
  name_this_thread(pool_.name, "watch");
  set_mask_of_library_thread();
  for (;;) {
    const std::uint32_t epoch = pool_.read_watch_epoch();
    // ORDER: relaxed, pairs with the store in the destructor: the epoch of the watch orders it.
    if (over_.load(std::memory_order_relaxed)) return;
    pool_.pause_watch(epoch, period);
    check_workers();
  }
}

void worker_watch::check_workers() noexcept {
  const primitive::locked guard(mutex_);
  if (!pool_.still.try_prevent()) return;
  for (std::size_t i = 0; i < seen_.size(); ++i) check_worker(i);
  if (pool_.has_work()) pool_.wake_one();  // without a fence: the next check finds what this one misses
  pool_.still.allow();
}

void worker_watch::check_worker(std::size_t index) noexcept {
  worker& watched = pool_.at(index);
  const std::size_t turns = watched.sleeps() ? slept : watched.turns();
  const bool stuck = std::exchange(seen_[index], turns) == turns && turns != slept;
  watched.set_stuck(stuck);
  if (stuck) watched.help(&pool_.time == &steady_clock());
}

}}}  // namespace hocket::detail
