// The executor: the interface through which primitives resume coroutines. loop and runtime are executors. Programs
// refer to them through it and do not derive from it.
#pragma once
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/runnable.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class spawn_target;

namespace detail {
class driver_slot;
class inbox;
class registry;
class timer_service;

// The driver of a thread, and the inbox in which the thread sleeps (core/thread/seam/driver_slot.hpp).
struct driver_access {
  driver_slot* slot = nullptr;
  inbox* sleeper = nullptr;
};
}  // namespace detail

// Runs coroutines on its threads.
//
// Protocol. detail::post() below hands over a runnable. On a thread of its home, post() pushes it to a run queue.
// Elsewhere it calls post_from_outside(), which is allowed on the executor's own thread, too. The runnable's coroutine
// is suspended and in no other queue. The executor resumes `handle` exactly once, later, from its own loop, never
// inside the call (no resumption is inline). Until then the executor owns the runnable's `next`. An executor outlives
// every runnable that names it as home.
class executor {
 public:
  // Any thread. Never allocates, never throws, never runs foreign code.
  virtual void post_from_outside(detail::runnable& work) noexcept = 0;

  // Like post_from_outside(), for one or more runnables.
  virtual void post_all_from_outside(const detail::runnables& works) noexcept {
    for (std::size_t i = 0; i < works.size(); ++i) post_from_outside(works[i]);
  }

  // The timers for deadlines of waits that begin on this executor. Null if it has none.
  virtual detail::timer_service* timers() noexcept { return nullptr; }

  // Called on a thread of a pool that has more ready coroutines than it is about to run.
  virtual void offer() noexcept {}
  // Like offer(), for a fork, which should begin on another thread at once.
  virtual void offer_fork() noexcept {}

  // The list of the scheduled coroutines that run here. Null if they are not listed. On the executor's thread only.
  virtual detail::registry* coroutines() noexcept { return nullptr; }

  // The I/O drivers of the executor's thread. Empty if it has no place for them. On the executor's thread only.
  virtual detail::driver_access drivers() noexcept { return {}; }

  // The spawn target for coroutines that run here and belong to no running coroutine. Null if there is none.
  virtual spawn_target* target() noexcept { return nullptr; }

 protected:
  ~executor() = default;
};

// The executor that runs the calling code. Null on a plain thread.
inline executor* current_executor() noexcept { return detail::this_thread().binding.running_on; }

namespace detail {
// Posts `work` to its home: directly to the home's run queue, if that queue or a share of it is this thread's own.
void post(runnable& work) noexcept;
// Like post(), for one or more runnables of the home `home`.
void post_all(executor& home, const runnables& works) noexcept;
}  // namespace detail

}}  // namespace hocket
