// Where coroutines run: the one interface that primitives know of a scheduler.
#pragma once
#include <hocket/core/runnable.hpp>

namespace hocket::inline HOCKET_ABI {

class driver;
class registry;
class spawn_target;
class timer_service;

// Protocol. post() hands over a runnable whose coroutine is suspended and which is in no other queue; the executor
// resumes `handle` exactly once, later, from its own loop, never inside post() (nobody resumes inline). Until then
// the runnable's `next` belongs to the executor. An executor outlives every runnable that names it as home.
class executor {
 public:
  // Any thread. Never allocates, never throws, never runs foreign code.
  virtual void post(runnable& work) noexcept = 0;

  // The same for several; not for none.
  virtual void post_all(const runnables& works) noexcept {
    for (std::size_t i = 0; i < works.size(); ++i) post(works[i]);
  }

  // The timers of this executor, for deadlines of waits that begin on it; null if it has none.
  virtual timer_service* timers() noexcept { return nullptr; }

  // Of a pool of several threads, on one of them: more is ready there than that one is about to run.
  virtual void offer() noexcept {}

  // Where the scheduled coroutines that run here are listed; null if they are not. On its own thread only.
  virtual registry* coroutines() noexcept { return nullptr; }

  // What its thread waits for I/O by; null if it has none. On its own thread only.
  virtual driver* io_driver() noexcept { return nullptr; }

  // Where to spawn what shall run here and belongs to nobody who runs here; null if there is no such place.
  virtual spawn_target* target() noexcept { return nullptr; }

 protected:
  ~executor() = default;
};

// Posts `work` to its home: straight into its run queue where that is this thread's own, or a share of it.
void post(runnable& work) noexcept;
// The same for several whose home is `home`; not for none.
void post_all(executor& home, const runnables& works) noexcept;

}  // namespace hocket::inline HOCKET_ABI
