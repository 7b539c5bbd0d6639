// What the workers of a pool share to find work and to be woken for it. The model checker runs it, too (tests/model):
// nothing here knows of coroutines' lives, of timers or of the runtime.
//
// Who may touch what. injected, idle: any thread. cores: constant once the first worker runs. seen_turns: the sleeper
// that watches. posting: any thread; read by the destructor of the runtime.
#pragma once
#include <hocket/base/detail/cache_line.hpp>

#include "runtime/idle_workers.hpp"
#include "runtime/injection.hpp"

#include <vector>

namespace hocket::inline HOCKET_ABI::detail {

class worker_core;

struct pool_core {
  // Throws bad_alloc.
  explicit pool_core(std::size_t workers) : idle(workers), seen_turns(workers) { cores.reserve(workers); }

  // Workers, in turn.
  worker_core& core(std::size_t index) noexcept { return *cores[index % cores.size()]; }

  // Makes a sleeper a searcher and wakes it, if one is needed.
  void wake_one() noexcept;
  // Whether a sleeper would find something. After a full fence only: see idle_workers.hpp.
  [[nodiscard]] bool has_work() const noexcept;

  // Any thread that is no worker of the pool: calls post_to(injected), which pushes something, and wakes a sleeper. A
  // full fence between the two would cost as much as all the rest; the push is one (injection::push).
  template <class Post>
  void inject(Post post_to) noexcept {
    // ORDER: relaxed, pairs with the load in is_left_alone(): the post publishes it together with the work.
    posting.fetch_add(1, std::memory_order_relaxed);
    post_to(injected);
    // ORDER: seq_cst, forbids that it comes before the compare-exchange of the post, against the fence in
    // worker_core::finds_work(): a poster that sees no sleeper has posted before that one looked.
    if (idle.wanted().load(std::memory_order_seq_cst) != demand::none) wake_one();
    // ORDER: release, pairs with the load in is_left_alone(): the pool is touched no more.
    posting.fetch_sub(1, std::memory_order_release);
  }
  // For the thread that destroys the pool, after all injected work has run: true when no inject() is under way.
  bool is_left_alone() const noexcept {
    // ORDER: acquire, pairs with the fetch_sub in inject().
    return posting.load(std::memory_order_acquire) == 0;
  }

  // Each on lines of its own: a post writes `injected` and `posting`, a sleeper `idle`, and every worker reads `cores`
  // at every turn.
  alignas(cache_line_size) injection injected;
  alignas(cache_line_size) idle_workers idle;
  alignas(cache_line_size) atomic<std::uint32_t> posting{0};  // calls of inject() under way
  alignas(cache_line_size) std::vector<worker_core*> cores;
  std::vector<std::size_t> seen_turns;
};

}  // namespace hocket::inline HOCKET_ABI::detail
