// What the workers of a pool share to find work and to be woken for it. The model checker runs it, too (tests/model):
// nothing here knows of coroutines' lives, of timers or of the runtime.
//
// Who may touch what. injected, idle, watch_epoch: any thread. cores: constant once the first worker runs. posting: any
// thread; read by the destructor of the runtime.
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

  // Workers, in turn.
  worker_core& core(std::size_t index) noexcept { return *cores[index % cores.size()]; }

  // Makes a sleeper a searcher and wakes it, if one is needed.
  void wake_one() noexcept;
  // Ends the rest of the watch and of the stall detector, so that their pauses return.
  void arm_watch() noexcept;
  // The watch, the stall detector: until a period is over; or, if all workers slept in the last one, until it is armed.
  // `epoch`: what read_watch_epoch() was before the caller read whether it is to end.
  void pause_watch(std::uint32_t epoch, duration period) noexcept {
    pause(idle_workers::observer::watch, epoch, period);
  }
  void pause_stalls(std::uint32_t epoch, duration period) noexcept {
    pause(idle_workers::observer::stalls, epoch, period);
  }
  // ORDER: acquire, pairs with the fetch_add in arm_watch(): what came before it is visible.
  std::uint32_t read_watch_epoch() const noexcept { return watch_epoch.load(std::memory_order_acquire); }
  // Whether a sleeper would find something. After a full fence only: see idle_workers.hpp.
  [[nodiscard]] bool has_work() const noexcept;

  // Any thread that is no worker of the pool: calls post_to(injected), which pushes something, and wakes a sleeper.
  template <class Post>
  void inject(Post post_to) noexcept {
    poster* const own = current_poster();
    if (!own) [[unlikely]]
      return inject_counted(post_to);
    own->begin(this);
    push_and_wake(post_to);
    own->end();
  }
  // For the thread that destroys the pool, after all injected work has run: true when no inject() is under way.
  bool has_no_posts() const noexcept {
    // ORDER: acquire, pairs with the fetch_sub in inject_counted().
    return posting.load(std::memory_order_acquire) == 0 && !is_posted_to(this);
  }

  // Each on lines of its own: a post writes `injected`, a sleeper `idle`, and every worker reads `cores`
  // at every turn.
  alignas(cache_line_size) injection injected;
  alignas(cache_line_size) idle_workers idle;
  alignas(cache_line_size) atomic<std::uint32_t> posting{0};  // posts under way, of threads that are no posters
  alignas(cache_line_size) std::vector<worker_core*> cores;
  atomic<std::uint32_t> watch_epoch{0};
  const clock_source* turn_clock = &steady_clock();  // by which the age of a turn counts; another one in tests

 private:
  void pause(idle_workers::observer self, std::uint32_t epoch, duration period) noexcept;
  // A full fence between the push and the look would cost as much as all the rest; the push is one (injection::push).
  template <class Post>
  void push_and_wake(Post& post_to) noexcept {
    post_to(injected);
    // ORDER: seq_cst, forbids that it comes before the compare-exchange of the post, against the fence in
    // worker_core::finds_work(): a poster that sees no sleeper has posted before that one looked.
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
