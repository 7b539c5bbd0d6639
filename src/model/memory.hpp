// The memory of an execution: C++20 atomics as views and messages.
//
// LOCATIONS. Each atomic object is a location: the list of its stores, oldest first. A store's position in the list,
// counted from 1, is its stamp. Stores are appended as they are executed, so modification order is execution order.
// A store carries a message: a snapshot of a view, which an acquiring reader joins into its own.
//
// THREADS have three views each.
//   now        what happens before the thread's next operation. now[location] is the floor of its reads: coherence.
//   acquired   what an acquire fence would add: the messages of its relaxed reads so far. Contains `now`.
//   released   `now` at the thread's last release fence: what its relaxed stores publish.
//   lit, owed  of the asymmetric fence: `now` at the thread's last light half, and what its next one adds to `now`.
// One more view, `sequential`, belongs to no thread: the stamps that the single order of seq_cst operations has
// reached.
//
//   operation                 effect
//   load(stamp s >= floor)    now[x] = s; acquired += message(s); if acquire: now += message(s)
//   store                     appended; message = now if release, else released, and its own stamp
//   read-modify-write         reads the newest store, then stores; its message also holds the message that it read, a
//                             release sequence (C++20's: later plain stores of the releasing thread are not in it)
//   seq_cst load              its floor is also at least sequential[x]; then sequential[x] = s
//   seq_cst store             sequential[x] = its stamp
//   acquire fence             now = acquired
//   release fence             released = now
//   seq_cst fence             an acquire fence; stamps: now and sequential become their join; a release fence
//   light half                lit = now; now += owed
//   heavy half                a seq_cst fence; now += lit of every thread; owed of every other thread += now
// Only stamps pass through `sequential`, `lit` and `owed`: two seq_cst fences order reads, but make no happens-before
// by themselves. The halves of an asymmetric fence order nothing but each other: a light half is no fence at all to a
// thread that makes none of the heavy ones.
//
// RACES. Every operation of a thread advances its own clock, and views carry clocks along with stamps. So an access by
// thread t at clock c happens before another thread's next operation iff that thread's now[t] >= c. Plain objects keep
// the clock of the last write and, per thread, of the last access. An atomic object's construction is a write, its
// operations are accesses, its destruction is again a write.
//
// WHAT THIS CANNOT SEE. (1) Executions in which modification order differs from execution order, as in the 2+2W test
// (two threads write x and y in opposite orders and the last values contradict both): hardware of the POWER kind does
// it, x86 does not. (2) Load buffering: a load never reads a store that has not been executed; with it go the values
// out of thin air. (3) memory_order_consume is treated as acquire. (4) A futex call orders nothing here, though the
// kernel's contains barriers; but it sees the newest value. All four make the checker miss exotic executions; none
// makes it report one that C++20 forbids.
#pragma once
#include "view.hpp"
#include <hocket/model/detail/shadow.hpp>
#include <array>
#include <atomic>
#include <string>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

using detail::site;
using detail::value_shape;

constexpr bool acquires(std::memory_order o) noexcept {
  return o != std::memory_order_relaxed && o != std::memory_order_release;
}
constexpr bool releases(std::memory_order o) noexcept {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

// Who accessed an object last and at which step of the interleaving.
struct access {
  std::uint32_t clock = 0;
  std::uint32_t step = 0;
};

struct location {
  struct store {
    std::uint64_t value;
    snapshot message;
  };

  const char* name = nullptr;
  const void* object = nullptr;  // its address while it lives: what a futex call is given
  value_shape shape;
  bool shared_before = false;               // older than the execution: every thread knows its construction
  std::uint32_t writer = 0;                 // the thread of `written`
  access written;                           // last plain write, or the construction
  std::array<access, max_threads> touched;  // last access per thread, writes included
  std::vector<store> stores;                // by stamp - 1
  std::uint32_t owner = max_threads;        // of a mutex; max_threads: none
  snapshot unlocked;                        // of a mutex: the view of its last unlock

  std::uint32_t newest() const noexcept { return static_cast<std::uint32_t>(stores.size()); }
  std::uint64_t newest_value() const noexcept { return stores.back().value; }
};

// The other half of a race: what the present access is not ordered after.
struct conflict {
  bool found = false;
  bool write = false;
  std::uint32_t thread = 0;
  std::uint32_t step = 0;
};

class memory {
 public:
  void clear() noexcept;

  // Threads. A forked thread knows what `parent` knows; a joined one's knowledge goes to `parent`.
  void fork(std::uint32_t parent, std::uint32_t child);
  void join(std::uint32_t parent, std::uint32_t child);
  void advance(std::uint32_t thread) { now(thread).raise(thread, now(thread)[thread] + 1); }

  // Objects.
  std::uint32_t create(const char* name, value_shape shape, std::uint64_t initial, bool shared_before);
  location& at(std::uint32_t id) noexcept { return locations_[id]; }
  const location& at(std::uint32_t id) const noexcept { return locations_[id]; }
  std::uint32_t count() const noexcept { return count_; }

  // The oldest stamp that `thread` may read with this order.
  std::uint32_t floor(std::uint32_t thread, std::uint32_t id, std::memory_order order) const noexcept;
  std::uint64_t read(std::uint32_t thread, std::uint32_t id, std::uint32_t stamp, std::memory_order order);
  void write(std::uint32_t thread, std::uint32_t id, std::uint64_t value, std::memory_order order, bool update);
  void fence(std::uint32_t thread, std::memory_order order);
  void light_fence(std::uint32_t thread);
  void heavy_fence(std::uint32_t thread);
  // A thread that waited sees the newest store of what it was looking at; nothing is ordered by that.
  void refresh(std::uint32_t thread, std::uint32_t id);

  void lock(std::uint32_t thread, std::uint32_t id);
  void unlock(std::uint32_t thread, std::uint32_t id);

  // Race checks; each also notes the access as made in `step`. An atomic operation is `touch`ed, plain data is
  // `observed` or `changed`, construction and destruction change.
  conflict touch(std::uint32_t thread, std::uint32_t id, std::uint32_t step);
  conflict change(std::uint32_t thread, std::uint32_t id, std::uint32_t step);

 private:
  struct thread_views {
    view now, acquired, released, lit, owed;
    void learn_stamps(const view& from) {
      now.join(from, max_threads);
      acquired.join(from, max_threads);
    }
  };

  static constexpr std::size_t stamp_of(std::uint32_t id) noexcept { return max_threads + id; }
  view& now(std::uint32_t thread) noexcept { return threads_[thread].now; }

  std::array<thread_views, max_threads> threads_;
  view sequential_;
  view scratch_;
  std::vector<location> locations_;  // count_ of them are in use; the rest keeps its memory for later executions
  std::uint32_t count_ = 0;
  snapshot_arena arena_;
};

}}}  // namespace hocket::model
