// What a worker has forked and not begun: last in, first out for the worker; others steal the oldest.
//
// The owner pushes and pops at the bottom without an atomic read-modify-write and without a fence, also the last entry:
//
//   owner, pop                              thief, under the mutex
//   1. bottom = b - 1                       1. top = t + 1
//   2. light fence                          2. heavy fence
//   3. top > b - 1: take the mutex and      3. bottom < t + 1: there is nothing: top = t
//      look again; else the entry is its      else the entry is the thief's
//
// One of the two sees the other's word (base/seam/atomic.hpp); where both do, the owner decides under the mutex,
// where top is final. That is the THE protocol of Cilk-5 (Frigo, Leiserson, Randall, "The implementation of the Cilk-5
// multithreaded language", PLDI 1998), with the owner's fence left to the thief. A Chase-Lev deque needs a
// compare-exchange for the last entry, and in fork-join code an entry is the last one very often.
//
// Who may touch what. bottom_, slots_, last_place_: written by the owner (the latter two under the mutex). limit_: the
// owner. top_: written under the mutex; free_, too. A slot: written by the owner before bottom_ is released, and again
// when free_ has passed it.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <coroutine>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Something that can begin on any worker: the rest of a fork.
struct fork_entry {
  // On a worker that took it out of a deque, in whose own deque it may be put again. Gives whom to resume now.
  std::coroutine_handle<> (*begin)(fork_entry& self) noexcept = nullptr;
};

class fork_deque {
 public:
  // `wanted`: whether other threads look for something. `room`: at first; a power of two.
  explicit fork_deque(const atomic<bool>& has_searchers, std::size_t capacity = 256) noexcept
      : has_searchers_(has_searchers), initial_capacity_(capacity) {}
  fork_deque(const fork_deque&) = delete;
  fork_deque& operator=(const fork_deque&) = delete;
  ~fork_deque();

  // --- the owner. False: there is no memory; the entry was not pushed.
  [[nodiscard]] bool push(fork_entry& entry) noexcept { return try_push(entry) || (grow() && try_push(entry)); }
  // The same; false where there is no room, either.
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

  // Takes `entry` back, if it is the one that was pushed last and was not stolen. False: it is, or will be, begun by
  // somebody else.
  [[nodiscard]] bool pop_if(const fork_entry& entry) noexcept {
    const pop_outcome outcome = try_pop_if(entry);
    return outcome == pop_outcome::taken || (outcome == pop_outcome::contended && pop_contended());
  }
  // The same in line. Contended: a thief may be about to take it, and pop_contended() is to be called, which tells.
  enum class pop_outcome : std::uint8_t { missed, taken, contended };
  [[nodiscard]] pop_outcome try_pop_if(const fork_entry& entry) noexcept {
    const std::size_t index = own(bottom_);
    if (index == 0 || last(index) != &entry) [[unlikely]]
      return pop_outcome::missed;
    return lower(index - 1) ? pop_outcome::taken : pop_outcome::contended;
  }
  bool pop_contended() noexcept;
  // The last one; null if there is none.
  [[nodiscard]] fork_entry* pop() noexcept {
    const std::size_t index = own(bottom_);
    if (index <= own(top_)) return nullptr;  // less: a thief is about to find that there is none
    fork_entry* entry = last(index);
    return lower(index - 1) || pop_contended() ? entry : nullptr;
  }
  bool empty() const noexcept { return own(bottom_) <= own(top_); }
  // Whether somebody looks for work; as stealable_queue::should_offer(), after a push.
  bool should_offer() const noexcept {
    light_fence();
    // ORDER: relaxed, pairs with the store of whoever looks: the fences of both order it.
    return has_searchers_.load(std::memory_order_relaxed);
  }

  // --- any other thread: the oldest; null if there is none, or if another thief is at work.
  [[nodiscard]] fork_entry* steal() noexcept;
  // May be outdated at once.
  bool in_reach() const noexcept { return own(top_) < own(bottom_); }

 private:
  using slot = atomic<fork_entry*>;

  // By the word's writer or under the mutex, where it is exact; by others as a guess.
  // ORDER: relaxed, pairs with nothing: see above.
  static std::size_t own(const atomic<std::size_t>& word) noexcept { return word.load(std::memory_order_relaxed); }
  slot& slot_at(std::size_t index) const noexcept { return slots_[index & mask_]; }
  // ORDER: relaxed, pairs with the store in push(): the owner's own.
  fork_entry* last(std::size_t index) const noexcept { return slot_at(index - 1).load(std::memory_order_relaxed); }
  // Whether no thief stands in the way.
  bool lower(std::size_t index) noexcept {
    // ORDER: release, pairs with the load in steal(): so that whatever store of the bottom that reads, the entries
    // below are whole.
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
  std::size_t limit_ = 0;  // the owner's: the slots below are free; of some time ago
  atomic<std::size_t> top_{0};
  atomic<std::size_t> free_{0};  // as top_, but behind while a thief is at work
  thread_mutex thieves_;
};

}}}  // namespace hocket::detail
