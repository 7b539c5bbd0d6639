// The part of a pool that its workers share: injected work, and the wake of sleepers. The model checker runs this part,
// too (tests/model), so it depends neither on the lives of coroutines nor on timers or the runtime.
//
// Access. injected, idle, watch_epoch: any thread. cores: constant once the first worker runs. posting: any thread;
// read by the destructor of the runtime.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/cache_line.hpp>

#include "runtime/idle_workers.hpp"
#include "runtime/injection.hpp"
#include "runtime/poster.hpp"

#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class worker_core;

struct pool_core {
  // Throws bad_alloc.
  explicit pool_core(std::size_t workers) : idle(workers) { cores.reserve(workers); }

  // The worker with this index, modulo their number.
  worker_core& core(std::size_t index) noexcept { return *cores[index % cores.size()]; }

  // If a searcher is needed, makes a sleeper a searcher and wakes it.
  void wake_one() noexcept;
  // Ends the rest of the watch and of the stall detector: pause_watch() and pause_stalls() return.
  void arm_watch() noexcept;
  // By the watch, by the stall detector: sleeps for a period; if all workers slept in the last period, until
  // arm_watch(). `epoch`: the result of read_watch_epoch() before the caller checked whether it must end.
  void pause_watch(std::uint32_t epoch, duration period) noexcept {
    pause(idle_workers::observer::watch, epoch, period);
  }
  void pause_stalls(std::uint32_t epoch, duration period) noexcept {
    pause(idle_workers::observer::stalls, epoch, period);
  }
  // ORDER: acquire, pairs with the fetch_add in arm_watch(): writes before it are visible.
  std::uint32_t read_watch_epoch() const noexcept { return watch_epoch.load(std::memory_order_acquire); }
  // Whether a sleeper would find work. The caller has made a full fence: see idle_workers.hpp.
  [[nodiscard]] bool has_work() const noexcept;

  // Any thread that is no worker of the pool: calls post_to(injected), which pushes work, and wakes a sleeper.
  template <class Post>
  void inject(Post post_to) noexcept {
    poster* const own = current_poster();
    if (!own) [[unlikely]]
      return inject_counted(post_to);
    own->begin(this);
    push_and_wake(post_to);
    own->end();
  }
  // For the thread that destroys the pool, after all injected work has run: whether no inject() is in progress.
  bool has_no_posts() const noexcept {
    // ORDER: acquire, pairs with the fetch_sub in inject_counted().
    return posting.load(std::memory_order_acquire) == 0 && !is_posted_to(this);
  }

  // Each member has cache lines of its own: a post writes `injected`, a sleeper writes `idle`, and every worker reads
  // `cores` in every turn.
  alignas(cache_line_size) injection injected;
  alignas(cache_line_size) idle_workers idle;
  alignas(cache_line_size) atomic<std::uint32_t> posting{0};  // posts in progress, of threads without a poster
  alignas(cache_line_size) std::vector<worker_core*> cores;
  atomic<std::uint32_t> watch_epoch{0};
  const clock_source* turn_clock = &steady_clock();  // measures the age of a turn; tests replace it

 private:
  void pause(idle_workers::observer self, std::uint32_t epoch, duration period) noexcept;
  // The push is a full fence itself (injection::push); a second fence before the load would double the cost.
  template <class Post>
  void push_and_wake(Post& post_to) noexcept {
    post_to(injected);
    // ORDER: seq_cst, forbids its reordering before the compare-exchange of the post, against the fence in
    // worker_core::finds_work(): if a poster sees no sleeper, the sleeper checks the queues after the post.
    if (idle.can_wake().load(std::memory_order_seq_cst)) wake_one();
  }
  template <class Post>
  [[HOCKET_NOINLINE, HOCKET_COLD]] void inject_counted(Post& post_to) noexcept {
    // ORDER: relaxed, pairs with the load in has_no_posts(): the post publishes it together with the work.
    posting.fetch_add(1, std::memory_order_relaxed);
    push_and_wake(post_to);
    // ORDER: release, pairs with the load in has_no_posts(): the pool is touched no more.
    posting.fetch_sub(1, std::memory_order_release);
  }
};

}}}  // namespace hocket::detail
