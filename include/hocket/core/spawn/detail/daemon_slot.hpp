// What a host keeps of its daemons: their number, and a pointer to their group (daemon_group.hpp).
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

class spawn_target;

namespace detail {

class daemon_group;

// The number of daemons of a host, beside a count of its other coroutines.
class daemon_count {
 public:
  void enter(std::size_t count) noexcept {
    // ORDER: relaxed, pairs with nothing: the coroutine itself is handed over by post().
    entered_.fetch_add(count, std::memory_order_relaxed);
  }
  void leave() noexcept {
    // ORDER: release, pairs with the load in plus(): what the daemon did, and spawned, is visible.
    ended_.fetch_add(1, std::memory_order_release);
  }
  // About, while coroutines of other threads spawn and end.
  std::size_t size() const noexcept {
    return plus([]() noexcept { return std::size_t{0}; });
  }
  // The sum with others(), never too small. Hazard: of the two numbers that were read first, the coroutines may have
  // spawned daemons and ended before the second is read, or the reverse. Prevented: the daemons that leave are read
  // before, and the daemons that enter before and after. If the latter differ, all are read again.
  template <class F>
  std::size_t plus(F others) const noexcept {
    for (;;) {
      // ORDER: acquire, pairs with the fetch_add in leave(): what the ended daemons spawned is visible.
      const std::size_t ended = ended_.load(std::memory_order_acquire);
      // ORDER: acquire, pairs with nothing: it keeps others() behind.
      const std::size_t entered = entered_.load(std::memory_order_acquire);
      const std::size_t sum = others() + (entered - ended);
      // ORDER: relaxed, pairs with nothing: others() acquires what an ended coroutine spawned.
      if (entered_.load(std::memory_order_relaxed) == entered) return sum;
    }
  }

 private:
  primitive::atomic<std::size_t> entered_{0}, ended_{0};
};

// The pointer of a host to its group.
class daemon_slot {
 public:
  daemon_slot() noexcept = default;
  daemon_slot(const daemon_slot&) = delete;
  daemon_slot& operator=(const daemon_slot&) = delete;
  ~daemon_slot();

  // Null: there was no daemon so far.
  daemon_group* get() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in get_or_make(): the group is visible.
    return group_.load(std::memory_order_acquire);
  }
  // `below`: the target below the host; null: there is none. Throws bad_alloc.
  daemon_group& get_or_make(spawn_target& host, spawn_target* below);
  // Does nothing if there is no group.
  void cancel() const noexcept;

 private:
  primitive::atomic<daemon_group*> group_{nullptr};
};

}  // namespace detail

}}  // namespace hocket
