// A poster: a thread's record of the pool to which the thread is posting.
//
// A post still touches its pool after other threads can see the posted work. The work may even have finished by then.
// So the destructor of a pool waits for posts in progress:
//
//   a thread that posts                           the destructor of the pool
//   1. begin(): stores the pool's address         1. knows that all posted work has finished
//   2. pushes the work                            2. reads all posters; repeats while one names this pool
//   3. looks for a sleeper and wakes it           3. frees the pool
//   4. end(): stores null
//
// No fence is needed. The destructor learns that the work has finished through a chain of release and acquire
// operations that begins at the push. The store of step 1 precedes the push, so the destructor sees the store.
//
// A poster is allocated at the first post of a thread, and stays in a global list. When the thread ends, another thread
// can reuse its poster. If a thread cannot have a poster (no memory, or the thread is ending), the pool counts the
// thread's posts instead.
//
// Access. current_poster() and is_posted_to(): any thread. A poster: its thread.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/cache_line.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

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

// The poster of this thread; null if the thread cannot have one.
poster* current_poster() noexcept;

// Whether any thread is posting to `pool`.
bool is_posted_to(const void* pool) noexcept;

}}}  // namespace hocket::detail
