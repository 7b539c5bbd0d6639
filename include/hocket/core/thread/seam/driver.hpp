// A driver: the part of an executor's thread that waits for events from outside of the process (descriptors,
// completions), and polls for them while the thread is busy.
//
// # What it is
//
// A driver is a parker with one more function, poll(). Its *owner* is a loop, a worker of a runtime, or a plain thread.
// Each owner has at most one driver. The first operation that needs it creates it (driver_slot.hpp), on the owner's
// thread. Without a driver the owner sleeps on a futex, and pays nothing.
//
// # A turn of the owner
//
// 1. take the posted work
// 2. poll(), in the first turn after a park() and in every n-th turn after that: posts each coroutine that has
//    finished its wait, and submits the operations that have begun since
// 3. fire the timers that are due. Data that arrived in time beats the deadline, even if both are noticed late
// 4. resume ready coroutines, up to a limit
// 5. if nothing was ready: announce the sleep (core/thread/seam/inbox.hpp)
// 6. park(): waits until something is ready, a wake(), or `until`. It grants and posts nothing
// 7. take the announcement back; continue with 1
//
// Why park() posts nothing. Between 5 and 7 the owner counts as asleep, even for itself. A post of the owner would
// count as a post of another thread, or wake the owner by a system call. In step 2 a post to the owner is a push to its
// run queue, without atomics. If a worker finds more than it can run at once there, it wakes others in step 4. So
// park() only collects events of the system, if it must, and poll() posts.
//
// # The bound
//
// Ready work is posted in the n-th turn at the latest, and then queues behind the work that was ready before. So I/O
// waits for n turns of other coroutines, and they wait for the work of one poll(). The driver chooses n: 1 if a poll
// reads memory (a ring of completions), about 8 if it is a system call (epoll); docs/decisions/012.
//
// # A stuck owner
//
// While a coroutine does not suspend, its thread does not poll. Then the watch of the runtime calls assist(), which
// does the work of poll() beside the owner, except for state of the owner alone. The posted coroutines run at other
// workers, except fibers that must stay at the stuck worker. timer_wheel::assist() does the same for deadlines.
//
// # What a driver must do, beside the duties of a parker
//
// - park() keeps everything that it has collected. The owner polls before it announces its next sleep.
// - await_wake() waits for a wake alone. An owner that takes its announcement back may have to wait for the answering
//   wake, before the next poll(). So await_wake() must not spin because of collected events, nor wait for space to
//   collect more.
// - park() may return without a reason. The owner has a turn and parks again.
// - park(time_point::min()) does not sleep, nor does park() with an `until` in the past.
// - poll() does not block, and is finite: it may leave a part of a large number to the next call (has_more()). It runs
//   no foreign code. It may grant waiters (core/wait/seam/suspension.hpp) of this owner or another.
// - park() and poll() run on the owner's thread, outside of coroutines. During poll() the owner is current_executor().
// - Any thread may call wake(). A thread that needs the owner awake (for a post, a stop, a dump, its end) wakes it like
//   an owner that sleeps on a futex.
//
// A guest of another event loop (runtime/loop.hpp) sleeps in the wait of its host. Then park() and wake() of the driver
// are not called: the host's parker watches descriptor() (parker::watch), which is readable while poll() has work.
//
// # Waits
//
// The operations of a driver (core/wait/seam/operation.hpp) find it by driver_here() in begin(), on the owner's thread.
// A stop or a deadline may end such a wait on any thread, even if the coroutine has moved to another worker. So any
// thread may call wait_source::detach(), at any time. An event that was collected for a wait which is over must not
// reach that wait, nor a later wait at the same descriptor.
//
// # Errors
//
// The failure of one operation is the result of that operation. A signal is a return without a reason. If the driver
// itself fails (its descriptor was closed), that is fatal, because no operation can report it. If a driver cannot be
// created, the operation that needed it fails, and the next operation tries again.
//
// # The end
//
// The owner destroys its driver on its own thread: a worker after the last coroutine of the runtime, a loop at its end,
// a plain thread when it ends. A wait of another owner's coroutine may still be registered there. The driver ends such
// a wait with an error. If the system still uses memory of a wait (a buffer that it writes to), that wait keeps its
// coroutine until the system has finished (grant::defer()). While that coroutine exists the owner parks and polls.
//
// # fork()
//
// Both processes refer to the same objects of the system, so a child must neither use nor destroy the driver. In a
// child an owner with a driver that runs or sleeps is fatal. An owner that ends there abandons the driver, if no
// coroutine waits at it.
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

  // Whether events are collected that poll() has not handled. Then the next turn polls, without a sleep before it.
  bool has_more() const noexcept { return more_; }

  // Called by one other thread at a time, while the owner does anything but destroy the driver (driver_slot.hpp). Posts
  // the coroutines of finished waits. Does not block, and is finite. The default does nothing.
  virtual void assist() noexcept {}

  // The owner polls in every n-th turn. At least 1.
  std::uint32_t turns_between_polls() const noexcept { return turns_; }

  // Readable while poll() has something to do. Below 0: there is no such descriptor.
  virtual int descriptor() const noexcept { return -1; }

  // The number of waits that it may end. For dumps: called by the owner, or while the owner is stopped.
  virtual std::size_t waiting() const noexcept = 0;

  // Whether it may end any wait. Constant time, unlike waiting().
  virtual bool has_waits() const noexcept { return waiting() != 0; }

  // Called by an owner with a clock of its own, before a sleep: whether an event of the driver, other than wake(), may
  // end the sleep. The default: if there are waits.
  virtual bool ends_sleep([[maybe_unused]] time_point until) const noexcept { return has_waits(); }

 protected:
  explicit driver(std::uint32_t turns_between_polls) noexcept : turns_(turns_between_polls) {}

  bool more_ = false;  // owner only

 private:
  const std::uint32_t turns_;
};

// A kind of driver. There is one object of each kind; its address is its identity. All drivers of a kind have one type.
class driver_kind {
 public:
  driver_kind(const driver_kind&) = delete;
  driver_kind& operator=(const driver_kind&) = delete;

  // The name for messages: "epoll". A literal.
  const char* name() const noexcept { return name_; }

  // Whether park() sleeps by this clock.
  virtual bool follows(const clock_source& time) const noexcept { return &time == &steady_clock(); }
  // Whether a driver may be used only on the thread that made it.
  virtual bool is_bound_to_a_thread() const noexcept { return false; }

  // Called on the thread of the owner. Returns the error of the operation that needs the driver, or sets `created`.
  virtual std::error_code make(const driver_owner& owner, std::unique_ptr<driver>& created) noexcept = 0;

 protected:
  explicit driver_kind(const char* name) noexcept : name_(name) {}
  ~driver_kind() = default;

 private:
  const char* const name_;
};

// The kind of the drivers of type Driver.
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

// Returns the driver of this kind for the calling thread, in a coroutine or for a wait of a plain thread. Creates it if
// there is none. Errors: the errors of driver_slot::get(), and not_supported if the current executor has no
// driver_slot.
template <class Driver>
result<Driver*> driver_here(driver_kind_of<Driver>& kind) noexcept {
  const auto [found, error] = driver_here_of(kind);
  if (error) return failure(error);
  return static_cast<Driver*>(found);
}

}}}  // namespace hocket::detail
