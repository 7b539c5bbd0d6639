// A driver: how the thread of an executor waits for what comes from outside of the process (descriptors, completions),
// and looks for it while it is busy.
//
// It is a parker with one member more, poll(). Its *owner* is one loop, or one worker of a runtime: a thread that runs
// coroutines. Each owner has a driver of its own. Without one it sleeps on a futex, and pays nothing.
//
//   the owner, on its thread, in each turn
//   1. takes what was posted to it
//   2. poll(), in the first turn after a park() and in every n-th turn since: whoever waited for what is ready is
//      posted, and what was begun and not yet handed to the system is handed over
//   3. fires the timers that are due: data that has come in time beats the deadline, however late both are seen
//   4. resumes what is ready, so many coroutines at most
//   5. nothing was ready: announces that it sleeps (core/detail/inbox.hpp)
//   6. park(): waits until something is ready, a wake() came or `until` has come; grants and posts nothing
//   7. takes the announcement back; goes to 1
//
// Why park() posts nothing. Between 5 and 7 the owner counts as asleep for everybody, itself included: what it posted
// would be taken for another thread's, or wake the owner as the sleeper that is to run it, by a system call. In step 2
// a post to the owner is a push to its run queue, without atomics, and a worker that finds more there than it can run
// at once wakes others for the rest in step 4. So park() only collects what the system tells, if it must, and poll()
// hands it on.
//
// The bound. What is ready is posted in the n-th turn after that at the latest, and then stands in line behind what was
// ready before: I/O waits for the other coroutines, n turns of them, and they wait for what one poll() takes. n is the
// driver's own: 1 where a look is a read of memory (a ring of completions), about 8 where it is a system call (epoll);
// docs/decisions/012. A coroutine that does not let go of its thread holds up the driver, like timers: nobody else
// polls it.
//
// What a driver must do, beside what a parker must:
//   - park() forgets nothing of what it has collected, but returns for what is new only. For an owner that takes its
//     announcement back may have to wait for the wake that has answered it, by more calls of park() before the next
//     poll(): they must end with that wake, also where there is no room to collect more, and not spin until then. The
//     owner polls before it announces its next sleep.
//   - park() may return for no reason. The owner has a turn and comes back.
//   - park(time_point::min()) does not sleep; an `until` in the past the same.
//   - poll() does not block, and is finite: it may leave the rest of a large number for the next one. It runs no
//     foreign code; to grant waiters (core/detail/suspension.hpp) is what it is for, be they of this owner or of
//     another.
//   - both run on the owner's thread, outside of coroutines; poll() in its seat (current_executor() is the owner).
//   - wake() is any thread's. Whoever needs the owner awake (for a post, a stop, a dump, its end) wakes one that sleeps
//     in a driver as one that sleeps on a futex.
//
// What is waited for is the driver's: operations that it offers (core/detail/operation.hpp) find it by
// current_executor()->io_driver() in begin(), on the owner's thread. Such a wait ends like any other, by a stop or a
// deadline on any thread, also when its coroutine has moved to another worker since: so wait_source::detach() is called
// on any thread, at any time, and what was collected for a wait that is over must not reach it, nor another one at the
// same descriptor.
//
// Errors. What goes wrong with one operation is that operation's result. A signal is a return for no reason. Where the
// driver itself cannot go on (its descriptor was closed), that is fatal: there is nobody to tell. What its constructor
// throws reaches whoever makes the loop or the runtime.
//
// Its end. A loop's driver outlives the loop. A worker's is destroyed on the worker's thread, after the last coroutine
// of the runtime. By then nobody waits at it: waits that were under way were ended with their coroutines, by the
// driver's own detach(). What the system still works on (a buffer that it writes to) keeps its coroutine until it is
// done (grant::keep()), and while that coroutine exists the owner parks and polls.
//
// fork(). What a driver has of the system is the same object on both sides. A loop with a driver must not be run by a
// child, and a runtime is not used there anyway.
#pragma once
#include <hocket/base/detail/platform/unique_ptr.hpp>
#include <hocket/core/parker.hpp>

namespace hocket::inline HOCKET_ABI {

class driver : public parker {
 public:
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;
  virtual ~driver() = default;

  // The owner; see above.
  virtual void poll() noexcept = 0;

  // In every how many turns of its owner it is polled: n. At least 1.
  std::uint32_t turns_between_polls() const noexcept { return turns_; }

  driver* as_driver() noexcept final { return this; }

 protected:
  explicit driver(std::uint32_t turns_between_polls) noexcept : turns_(turns_between_polls) {}

 private:
  const std::uint32_t turns_;
};

namespace detail {

// When a driver is to be polled: the owner's part.
class poll_schedule {
 public:
  explicit poll_schedule(driver* of) noexcept : driver_(of) {}

  driver* polled() const noexcept { return driver_; }
  void set(driver* of) noexcept { driver_ = of; }

  // Once in each turn.
  void turn() noexcept {
    if (driver_) poll_in_time();
  }
  // The driver was parked, or a host has waited for it: the next turn polls.
  void soon() noexcept { turns_left_ = 1; }

 private:
  void poll_in_time() noexcept {
    if (--turns_left_ != 0) return;
    turns_left_ = driver_->turns_between_polls();
    driver_->poll();
  }

  driver* driver_;
  std::uint32_t turns_left_ = 1;
};

}  // namespace detail

// Makes the drivers of a runtime's workers. Used while the runtime is constructed.
class driver_maker {
 public:
  // On the thread of that worker, which will use it: what belongs to a thread may be made here. One at a time, in the
  // order of the workers. Not null. What it throws comes out of the runtime's constructor.
  virtual std::unique_ptr<driver> make(std::size_t worker) = 0;

 protected:
  ~driver_maker() = default;
};

}  // namespace hocket::inline HOCKET_ABI
