// Where coroutines run: the one interface that primitives know of a scheduler. loop and runtime are executors; programs
// refer to them by it and do not derive from it.
#pragma once
#include <hocket/core/detail/current.hpp>
#include <hocket/core/detail/runnable.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class spawn_target;

namespace detail {
class driver_slot;
class inbox;
class registry;
class timer_service;

// Where a thread has its driver, and the inbox in which it sleeps (core/detail/driver_slot.hpp).
struct driver_access {
  driver_slot* slot = nullptr;
  inbox* sleeper = nullptr;
};
}  // namespace detail

// Protocol. A runnable is handed over by detail::post(), below. On a thread of its home that is a push to a run queue;
// everywhere else it is a call of post_from_outside(), which may be called on the executor's own thread, too. The
// runnable's coroutine is suspended, and it is in no other queue; the executor resumes `handle` exactly once, later,
// from its own loop, never inside the call (nobody resumes inline). Until then the runnable's `next` belongs to the
// executor. An executor outlives every runnable that names it as home.
class executor {
 public:
  // Any thread. Never allocates, never throws, never runs foreign code.
  virtual void post_from_outside(detail::runnable& work) noexcept = 0;

  // The same for several; not for none.
  virtual void post_all_from_outside(const detail::runnables& works) noexcept {
    for (std::size_t i = 0; i < works.size(); ++i) post_from_outside(works[i]);
  }

  // The timers of this executor, for deadlines of waits that begin on it; null if it has none.
  virtual detail::timer_service* timers() noexcept { return nullptr; }

  // Of a pool of several threads, on one of them: more is ready there than that one is about to run.
  virtual void offer() noexcept {}
  // The same for a fork, which should begin elsewhere at once.
  virtual void offer_fork() noexcept {}

  // Where the scheduled coroutines that run here are listed; null if they are not. On its own thread only.
  virtual detail::registry* coroutines() noexcept { return nullptr; }

  // Where its thread has what it waits for I/O by; nothing, if it has no place for that. On its own thread only.
  virtual detail::driver_access drivers() noexcept { return {}; }

  // Where to spawn what shall run here and belongs to nobody who runs here; null if there is no such place.
  virtual spawn_target* target() noexcept { return nullptr; }

 protected:
  ~executor() = default;
};

// The executor that runs the calling code; null on a plain thread.
inline executor* current_executor() noexcept { return detail::this_thread().seat.running_on; }

namespace detail {
// Posts `work` to its home: straight into its run queue where that is this thread's own, or a share of it.
void post(runnable& work) noexcept;
// The same for several whose home is `home`; not for none.
void post_all(executor& home, const runnables& works) noexcept;
}  // namespace detail

}}  // namespace hocket
