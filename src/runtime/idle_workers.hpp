// Which workers of a pool sleep, and how many look for work: so that no work waits beside a worker that sleeps, and no
// more workers look for it than may find some.
//
// A worker is busy, searching or asleep:
//
//   busy --runs dry, and may search--> searching --finds something--> busy (the last searcher: notify(); see Alone)
//   busy, searching --finds nothing--> asleep --posted to, or its time has come--> busy
//                                      asleep --notify()--> searching
//
// notify() makes one sleeper a searcher and wakes it; it does nothing while anybody searches already. That is enough:
// the last searcher that finds something calls notify() in turn, and one that finds nothing looks once more after it
// has announced its sleep. So with a lot of work the workers wake each other one by one, and with little work one or
// two look in vain. At most half of the workers search. (Go and tokio do the same; golang/go: src/runtime/proc.go,
// "Worker thread parking/unparking".)
//
// No work is overlooked:
//
//   a worker that sleeps                          whoever brings work
//   1. begin_sleep(): wanted() is true from now   1. pushes it
//   2. heavy fence                                2. light fence (stealable_queue::should_offer()); from outside: 1 and
//   3
//                                                    are seq_cst
//   3. unless others search: looks at all queues  3. wanted(): notify()
//      once more; something -> end_sleep(), searches
//   4. sleeps in its inbox; end_sleep()
//
// One of the two sees what the other did. A bringer that finds wanted() false because somebody searches may leave it
// at that, and so may a worker that falls asleep: that searcher, or the one that it wakes, comes to step 3 later.
//
// Alone. The last searcher that has found something and is the only worker awake need not wake another for nothing:
// what was brought while it searched came from other threads, in the order of all seq_cst operations, so one full fence
// of its own and a look at the queues tell whether there is more. That is the wake-up of a pool that is idle: one wake
// instead of two.
//
// The watch. A worker does not wake a sleeper for one coroutine, because it runs that next, nor for a few short ones
// (worker_core.hpp, Offers). If the worker is stuck, a watch thread finds them (worker_watch.hpp). The watch rests if
// all workers slept for a whole period. The first worker that ends a sleep arms it:
//
//   armed --all slept for a period: rests()--> resting --a sleep ends: end_sleep() gives `arms`--> armed
//
// The stall detector (stall_detector.hpp) rests by the same rule, with a period of its own. Each of the two is a bit.
//
// All of it changes under one mutex: a worker that runs dry has the time. wanted() is a copy that costs nothing to read
// where it matters, in each push.
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

  // Whether a sleeper would come: somebody sleeps, and nobody searches.
  const atomic<bool>& wanted() const noexcept { return wanted_; }

  // A busy worker: whether it is searching now.
  [[nodiscard]] bool begin_search() noexcept;
  // A searching worker found something, and is busy.
  struct search_end {
    bool last;   // nobody else searches: it calls notify()
    bool alone;  // all others sleep: it looks first whether there is more
  };
  search_end end_search() noexcept;

  // A worker, searching or not: is asleep.
  struct sleep {
    bool looks_again;   // nobody searches: it must look for work once more
    bool others_awake;  // of the others
  };
  sleep begin_sleep(worker_core& self, bool searching) noexcept;
  // An awake worker that was asleep.
  struct wake_up {
    bool notified;  // by notify(): it is searching; else it is busy
    bool arms;      // it must ring for the observers that rest
  };
  [[nodiscard]] wake_up end_sleep(worker_core& self) noexcept;

  // Any thread: the sleeper that is to be woken, searching already; null if none is needed.
  [[nodiscard]] worker_core* notify() noexcept;

  // An observer, once in each of its periods: whether all have slept since its last call, so that it rests now.
  enum class observer : std::uint8_t { watch = 1, stalls = 2 };
  [[nodiscard]] bool rests(observer self) noexcept;

 private:
  void changed() noexcept;

  const std::size_t workers_;
  thread_mutex mutex_;
  std::size_t searching_ = 0;
  std::vector<worker_core*> asleep_;  // the last one that fell asleep is woken first: its caches are warm
  static constexpr std::uint8_t all_observers = 3;
  std::uint8_t armed_ = all_observers;    // the observers that do not rest
  std::uint8_t stirred_ = all_observers;  // for these, a sleep has ended since the last call of rests()
  atomic<bool> wanted_{false};
};

}}}  // namespace hocket::detail
