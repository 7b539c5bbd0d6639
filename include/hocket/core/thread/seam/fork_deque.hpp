// The forks of a worker that have not begun: last in, first out for the worker. Thieves steal the oldest.
//
// # Protocol
//
// The owner pushes and pops at the bottom without an atomic read-modify-write and without a fence, also the last entry:
//
//   owner, pop                              thief, under the mutex
//   1. bottom = b - 1                       1. top = t + 1
//   2. light fence                          2. heavy fence
//   3. top > b - 1: lock the mutex and      3. bottom < t + 1: there is no entry: top = t
//      check again; else the entry is       else the entry is the thief's
//      the owner's
//
// At least one of the two reads the other's word (base/seam/atomic.hpp). If both do, the owner decides under the mutex,
// where top is final. That is the THE protocol of Cilk-5 (Frigo, Leiserson, Randall, "The implementation of the Cilk-5
// multithreaded language", PLDI 1998), with the owner's fence moved to the thief. A Chase-Lev deque needs a
// compare-exchange for the last entry, and in fork-join code an entry very often is the last one.
//
// # Access
//
// - bottom_, slots_, mask_: written by the owner (the latter two under the mutex).
// - limit_: the owner.
// - top_, free_: written under the mutex.
// - A slot: written by the owner before bottom_ is released, and again when free_ has passed it.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Work that can begin on any worker: the rest of a fork.
struct fork_entry {
  // Called by a worker that took the entry out of a deque. It may push the entry into its own deque.
  // Returns the coroutine to resume now.
  std::coroutine_handle<> (*begin)(fork_entry& self) noexcept = nullptr;
};

class fork_deque {
 public:
  // `has_searchers`: whether other threads search for work. `capacity`: the initial one; a power of two.
  explicit fork_deque(const atomic<bool>& has_searchers, std::size_t capacity = 256) noexcept
      : has_searchers_(has_searchers), initial_capacity_(capacity) {}
  fork_deque(const fork_deque&) = delete;
  fork_deque& operator=(const fork_deque&) = delete;
  ~fork_deque();

  // --- the owner. False: there is no memory, and the entry was not pushed.
  [[nodiscard]] bool push(fork_entry& entry) noexcept { return try_push(entry) || (grow() && try_push(entry)); }
  // Like push(); also false if the deque is full.
  [[nodiscard]] bool try_push(fork_entry& entry) noexcept {
    const std::size_t index = own(bottom_);
    if (index >= limit_ && !update_limit(index)) [[unlikely]]
      return false;
    // ORDER: relaxed, pairs with the load in steal(): the bottom publishes it.
    slot_at(index).store(&entry, std::memory_order_relaxed);
    // ORDER: release, pairs with the load in steal(): the entry is whole.
    bottom_.store(index + 1, std::memory_order_release);
    return true;
  }

  // Pops `entry`, if it is the entry that was pushed last and was not stolen. False: another thread has begun it, or
  // will.
  [[nodiscard]] bool pop_if(const fork_entry& entry) noexcept {
    const pop_outcome outcome = try_pop_if(entry);
    return outcome == pop_outcome::taken || (outcome == pop_outcome::contended && pop_contended());
  }
  // Like pop_if(), inline. contended: a thief may be about to take the entry; pop_contended() decides.
  enum class pop_outcome : std::uint8_t { missed, taken, contended };
  [[nodiscard]] pop_outcome try_pop_if(const fork_entry& entry) noexcept {
    const std::size_t index = own(bottom_);
    if (index == 0 || last(index) != &entry) [[unlikely]]
      return pop_outcome::missed;
    return lower(index - 1) ? pop_outcome::taken : pop_outcome::contended;
  }
  bool pop_contended() noexcept;
  // Pops the last entry; null if there is none.
  [[nodiscard]] fork_entry* pop() noexcept {
    const std::size_t index = own(bottom_);
    if (index <= own(top_)) return nullptr;  // less: a thief is about to find that there is none
    fork_entry* entry = last(index);
    return lower(index - 1) || pop_contended() ? entry : nullptr;
  }
  bool empty() const noexcept { return own(bottom_) <= own(top_); }
  // Whether another thread searches for work; as stealable_queue::should_offer(), after a push.
  bool should_offer() const noexcept {
    light_fence();
    // ORDER: relaxed, pairs with the store in idle_workers::changed(): the fences of both order it.
    return has_searchers_.load(std::memory_order_relaxed);
  }

  // --- any other thread: takes the oldest entry; null if there is none, or if another thief is at work.
  [[nodiscard]] fork_entry* steal() noexcept;
  // May be outdated at once.
  bool in_reach() const noexcept { return own(top_) < own(bottom_); }

 private:
  using slot = atomic<fork_entry*>;

  // Exact for the word's writer and under the mutex; a guess for other threads.
  // ORDER: relaxed, pairs with nothing: see above.
  static std::size_t own(const atomic<std::size_t>& word) noexcept { return word.load(std::memory_order_relaxed); }
  slot& slot_at(std::size_t index) const noexcept { return slots_[index & mask_]; }
  // ORDER: relaxed, pairs with the store in push(): the owner reads its own store.
  fork_entry* last(std::size_t index) const noexcept { return slot_at(index - 1).load(std::memory_order_relaxed); }
  // Lowers the bottom. Whether no thief contends for the entry.
  bool lower(std::size_t index) noexcept {
    // ORDER: release, pairs with the load in steal(): if that load reads this store, the
    // entries below are complete.
    bottom_.store(index, std::memory_order_release);
    light_fence();
    // ORDER: relaxed, pairs with the stores in steal(): the fences of both order it.
    return top_.load(std::memory_order_relaxed) <= index;
  }
  bool update_limit(std::size_t index) noexcept;
  bool grow() noexcept;

  const atomic<bool>& has_searchers_;
  const std::size_t initial_capacity_;
  atomic<std::size_t> bottom_{0};
  slot* slots_ = nullptr;
  std::size_t mask_ = 0;   // a power of two, less one
  std::size_t limit_ = 0;  // owner only: the slots below were free at some time
  atomic<std::size_t> top_{0};
  atomic<std::size_t> free_{0};  // like top_, but behind it while a thief is at work
  thread_mutex thieves_;
};

}}}  // namespace hocket::detail
