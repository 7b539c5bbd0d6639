// What each thread that posts to pools says about that: to which one it posts just now.
//
// A post touches the pool for a moment after others can see what was posted, and that may have run and ended by then.
// So whoever destroys a pool waits for the posts under way:
//
//   a thread that posts                           the thread that destroys the pool
//   1. says to which pool: a plain store          1. has seen that all that was posted has ended
//   2. posts                                      2. looks through the posters: one says this pool -> looks again
//   3. looks whether somebody sleeps, wakes       3. destroys it
//   4. says that it is over: a release store
//
// No fence is needed: that all has ended was learnt, in a chain of releases and acquires, from what was posted in step
// 2. So step 1 is visible.
//
// A poster is made at the first post of its thread, and listed for good; when the thread ends another one may have it.
// Where none can be made (no memory, a thread that ends) the pool counts its posts instead.
//
// Access. poster_here() and anybody_posts_to(): any thread. A poster: its thread.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/cache_line.hpp>

namespace hocket::inline HOCKET_ABI::detail {

class alignas(cache_line_size) poster {
 public:
  void begin(const void* pool) noexcept {
    // ORDER: relaxed, pairs with the load in is_posting_to(): the post publishes it together with the work.
    pool_.store(pool, std::memory_order_relaxed);
  }
  void end() noexcept {
    // ORDER: release, pairs with the load in is_posting_to(): the pool is touched no more.
    pool_.store(nullptr, std::memory_order_release);
  }
  bool is_posting_to(const void* pool) const noexcept {
    // ORDER: acquire, pairs with the store in end().
    return pool_.load(std::memory_order_acquire) == pool;
  }

 private:
  atomic<const void*> pool_{nullptr};
};

// Of this thread; null if it can have none.
poster* poster_here() noexcept;

// Whether some thread posts to that pool just now.
bool anybody_posts_to(const void* pool) noexcept;

}  // namespace hocket::inline HOCKET_ABI::detail
