// A driver: how the thread of an executor waits for what comes from outside of the process (descriptors, completions),
// and looks for it while it is busy.
//
// It is a parker with one member more, poll(). Its *owner* is a loop, a worker of a runtime, or a plain thread. Each
// owner has at most one driver. It is made when the first operation needs it (driver_slot.hpp), on the owner's thread.
// Without one the owner sleeps on a futex, and pays nothing.
//
//   the owner, on its thread, in each turn
//   1. takes what was posted to it
//   2. poll(), in the first turn after a park() and in every n-th turn since: posts every coroutine whose wait is over,
//      and hands operations that have begun since to the system
//   3. fires the timers that are due: data that has come in time beats the deadline, however late both are seen
//   4. resumes what is ready, so many coroutines at most
//   5. nothing was ready: announces that it sleeps (core/thread/seam/inbox.hpp)
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
// docs/decisions/012.
//
// A stuck owner. While a coroutine does not let go of its thread, that thread does not poll. The watch of the
// runtime then calls assist(): it does what poll() does, beside the owner, for as much as is not the owner's alone.
// What it posts runs at other workers, but for fibers that stay with the stuck one. Deadlines are looked after likewise
// (timer_wheel::assist()).
//
// What a driver must do, beside what a parker must:
//   - park() forgets nothing of what it has collected. The owner polls before it announces its next sleep.
//   - await_wake() waits for a wake alone. For an owner that takes its announcement back may have to wait for the wake
//     that has answered it, before the next poll(): it must not spin until then on what is collected already, nor wait
//     for room to collect more.
//   - park() may return for no reason. The owner has a turn and comes back.
//   - park(time_point::min()) does not sleep; an `until` in the past the same.
//   - poll() does not block, and is finite: it may leave the rest of a large number for the next one (has_more()). It
//     runs no foreign code; to grant waiters (core/wait/seam/suspension.hpp) is what it is for, be they of this owner
//     or of another.
//   - both run on the owner's thread, outside of coroutines; poll() in its seat (current_executor() is the owner).
//   - wake() is any thread's. Any thread that needs the owner awake (for a post, a stop, a dump, its end) wakes an
//     owner that sleeps in a driver as one that sleeps on a futex.
//
// A guest of another event loop (runtime/loop.hpp) sleeps in its host's wait. Then nobody calls park() and wake() of
// the driver: the host's parker watches descriptor() (parker::watch), which is readable while poll() has something to
// do.
//
// What is waited for is the driver's: operations that it offers (core/wait/seam/operation.hpp) find it by
// driver_here() in begin(), on the owner's thread. Such a wait ends like any other, by a stop or a deadline on any
// thread, also when its coroutine has moved to another worker since: so wait_source::detach() is called on any thread,
// at any time, and what was collected for a wait that is over must not reach it, nor another one at the same
// descriptor.
//
// Errors. What goes wrong with one operation is that operation's result. A signal is a return for no reason. Where the
// driver itself cannot go on (its descriptor was closed), that is fatal: there is nobody to tell. If a driver cannot be
// made, the operation that asked for it fails, and the next one tries again.
//
// Its end. The owner destroys its driver on its own thread: a worker after the last coroutine of the runtime, a loop at
// its end, a plain thread when it ends. A wait of another owner's coroutine may still be registered there. The driver
// takes such waits out and ends them with an error. What the system still works on (a buffer that it writes to) keeps
// its coroutine until it is done (grant::keep()), and while that coroutine exists the owner parks and polls.
//
// fork(). What a driver has of the system is the same object on both sides, so a child must neither use nor destroy it.
// There an owner with a driver that runs or sleeps is fatal. One that ends leaves the driver to the parent, if no
// coroutine of it is left.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/result.hpp>
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/core/parker.hpp>
#include <hocket/core/thread/seam/driver_slot.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class driver : public parker {
 public:
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;
  virtual ~driver() = default;

  // The owner; see above.
  virtual void poll() noexcept = 0;
  void await_wake() noexcept override = 0;

  // Something is collected that poll() has not told: the next poll() comes in the next turn, without a sleep before.
  bool has_more() const noexcept { return more_; }

  // Another thread, one at a time, while the owner may be doing anything but destroy the driver (driver_slot.hpp):
  // posts the coroutines whose waits are over by now. Does not block, and is finite. By default nothing.
  virtual void assist() noexcept {}

  // In every how many turns of its owner it is polled: n. At least 1.
  std::uint32_t turns_between_polls() const noexcept { return turns_; }

  // Readable while poll() has something to do. Below 0: there is no such descriptor.
  virtual int descriptor() const noexcept { return -1; }

  // How many waits it may end. For dumps: the owner, or while it stands still.
  virtual std::size_t waiting() const noexcept = 0;

  // Whether it may end any wait. Unlike waiting() it is quick, however many there are.
  virtual bool has_waits() const noexcept { return waiting() != 0; }

  // The owner, before a sleep, if it has a clock of its own: whether the driver would end the sleep, and not only by
  // wake(). By default if there are waits.
  virtual bool ends_sleep([[maybe_unused]] time_point until) const noexcept { return has_waits(); }

 protected:
  explicit driver(std::uint32_t turns_between_polls) noexcept : turns_(turns_between_polls) {}

  bool more_ = false;  // the owner's

 private:
  const std::uint32_t turns_;
};

// A kind of driver, of which there is one object. Its address is its identity: two drivers of one kind have one type.
class driver_kind {
 public:
  driver_kind(const driver_kind&) = delete;
  driver_kind& operator=(const driver_kind&) = delete;

  // What it is, for people: "epoll". A literal.
  const char* name() const noexcept { return name_; }

  // Whether park() sleeps by that clock.
  virtual bool follows(const clock_source& time) const noexcept { return &time == &steady_clock(); }
  // Whether a driver may be used only on the thread that made it.
  virtual bool is_bound_to_a_thread() const noexcept { return false; }

  // On the thread of the owner. An error is that of the operation that asked; without one there is a driver.
  virtual std::error_code make(const driver_owner& owner, std::unique_ptr<driver>& created) noexcept = 0;

 protected:
  explicit driver_kind(const char* name) noexcept : name_(name) {}
  ~driver_kind() = default;

 private:
  const char* const name_;
};

// The kind whose drivers are of type Driver.
template <class Driver>
class driver_kind_of : public driver_kind {
 public:
  std::error_code make(const driver_owner& owner, std::unique_ptr<driver>& created) noexcept final {
    result<std::unique_ptr<Driver>> created_driver = make_driver(owner);
    if (!created_driver) return created_driver.error();
    created = std::move(*created_driver);
    return {};
  }

 protected:
  using driver_kind::driver_kind;
  ~driver_kind_of() = default;
  virtual result<std::unique_ptr<Driver>> make_driver(const driver_owner& owner) noexcept = 0;
};

found_driver driver_here_of(driver_kind& kind) noexcept;

// The driver of that kind of the thread that calls, in a coroutine or for a wait of a plain thread; made, if there is
// none. Errors: those of driver_slot::get(), and not_supported where the current executor has no place for a driver.
template <class Driver>
result<Driver*> driver_here(driver_kind_of<Driver>& kind) noexcept {
  const auto [found, error] = driver_here_of(kind);
  if (error) return failure(error);
  return static_cast<Driver*>(found);
}

}}}  // namespace hocket::detail
