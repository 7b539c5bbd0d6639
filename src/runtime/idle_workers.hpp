// The idle workers of a pool: which workers sleep, and how many search for work. While a worker sleeps, no offered work
// waits. No more workers search than may find work.
//
// # States of a worker
//
//   busy --has no work, and may search--> searching --finds work--> busy (the last searcher: notify(); see Alone)
//   busy, searching --finds no work--> asleep --a post, or a timer is due--> busy
//                                      asleep --notify()--> searching
//
// notify() makes one sleeper a searcher and wakes it. If any worker searches already, notify() does nothing. That is
// enough: the last searcher that finds work calls notify() in turn, and the last searcher that finds no work checks the
// queues once more after it has announced its sleep. With a lot of work the workers wake each other one by one. With
// little work one or two workers search in vain. At most half of the workers search, rounded up. (Go and tokio do the
// same; golang/go: src/runtime/proc.go, "Worker thread parking/unparking".)
//
// # No lost wake-up
//
//   a worker that falls asleep                      a thread that pushes work
//   1. begin_sleep(): can_wake() becomes true       1. pushes the work
//   2. heavy fence                                  2. light fence (stealable_queue::should_offer()); a thread outside
//   3. if no other worker searches: checks all         of the pool has none: its steps 1 and 3 are seq_cst
//      queues once more; work -> end_sleep(),       3. if can_wake() is true: notify()
//      search
//   4. sleeps in its inbox; end_sleep()
//
// Either the worker sees the work in step 3, or the thread sees can_wake() as true. If can_wake() is false because
// another worker searches, the pushing thread need not notify, and a worker that falls asleep need not check: that
// searcher, or the worker that it wakes, reaches step 3 later.
//
// # Alone
//
// If the last searcher has found work and all other workers sleep, a wake may be in vain. Work that was pushed during
// the search came from other threads, in the order of all seq_cst operations. So after one full fence the searcher
// checks the queues, and wakes a worker only if there is more work. An idle pool thus wakes one worker for one post,
// not two.
//
// # The watch
//
// A worker does not wake a sleeper for one coroutine, because the worker runs this coroutine next, nor for a few short
// coroutines (worker_core.hpp, Offers). If the worker is stuck, a watch thread finds its ready coroutines
// (worker_watch.hpp). The watch rests if all workers slept for a whole period. The first worker that ends a sleep arms
// the watch:
//
//   armed --all slept for a period: rests()--> resting --a sleep ends: end_sleep() gives `must_arm`--> armed
//
// The stall detector (stall_detector.hpp) rests by the same rule, with a period of its own. Each of the two observers
// is a bit.
//
// # Cost
//
// All state changes under one mutex: a worker without work has the time. can_wake() is a copy of the state that each
// push reads for free.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class worker_core;

class idle_workers {
 public:
  // Throws bad_alloc.
  explicit idle_workers(std::size_t workers) : workers_(workers) { asleep_.reserve(workers); }

  // Whether notify() would wake a worker: some worker sleeps, and none searches.
  const atomic<bool>& can_wake() const noexcept { return can_wake_; }

  // By a busy worker. Returns whether the worker is searching now.
  [[nodiscard]] bool begin_search() noexcept;
  // By a searching worker that found work: the worker is busy now.
  struct search_end {
    bool last;   // no other worker searches: the worker must call notify()
    bool alone;  // all other workers sleep: the worker checks first whether there is more work
  };
  search_end end_search() noexcept;

  // By a worker, searching or not: the worker is asleep now.
  struct sleep {
    bool must_recheck;  // no worker searches: the worker must check the queues once more
    bool others_awake;  // some other worker is awake
  };
  sleep begin_sleep(worker_core& self, bool searching) noexcept;
  // By a worker that was asleep: the worker is awake now.
  struct wake_up {
    bool notified;  // woken by notify(): the worker is searching; else it is busy
    bool must_arm;  // an observer rests: the worker must call arm_watch()
  };
  [[nodiscard]] wake_up end_sleep(worker_core& self) noexcept;

  // Any thread. Returns a sleeper that the caller must wake; its state is `searching` already. Null: no searcher is
  // needed, or no worker sleeps.
  [[nodiscard]] worker_core* notify() noexcept;

  // By an observer, once in each of its periods. True: all workers have slept since the last call of this observer, and
  // the observer rests now.
  enum class observer : std::uint8_t { watch = 1, stalls = 2 };
  [[nodiscard]] bool rests(observer self) noexcept;

 private:
  void update_can_wake() noexcept;

  const std::size_t workers_;
  thread_mutex mutex_;
  std::size_t searching_ = 0;
  std::vector<worker_core*>
      asleep_;  // a stack: the worker that fell asleep last is woken first, because its caches are warm
  static constexpr std::uint8_t all_observers = 3;
  std::uint8_t armed_ = all_observers;    // the observers that do not rest
  std::uint8_t stirred_ = all_observers;  // for these, a sleep has ended since the last call of rests()
  atomic<bool> can_wake_{false};
};

}}}  // namespace hocket::detail
