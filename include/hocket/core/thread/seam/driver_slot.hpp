// The slot of an owner for its driver (core/thread/seam/driver.hpp). The first operation that needs the driver creates
// it.
//
//   struct reading {                                                       // an operation of the driver
//     void begin(suspension& wait, waiter& entry) noexcept {
//       const auto driver = driver_here(epoll_kind());  // its kind: a driver_kind_of<epoll_driver>&
//       if (!driver) return fail(driver.error());
//       (*driver)->begin(*this, wait, entry);
//     }
//
// # Adoption
//
// A driver is created in the middle of a turn. Its owner may have slept on a futex many times before:
//
//   the owner                                        a thread that posts
//   1. sleep: announces it, parks on the futex       a. replaces the announcement (inbox.hpp)
//   2. is woken, takes the announcement back         b. wakes the parker that was announced
//   3. a coroutine needs the driver: set_parker()
//   4. the next sleep: announces it, parks in the driver
//
// Only the thread that replaced the announcement reads the parker to wake, and the owner stays in step 2 until that
// wake has taken effect. Between 2 and 4 no sleep is announced. So step 3 is a plain store.
//
// Hazard: if the parker changed while a sleep is announced, then a late wake could reach the new parker, because the
// thread of step b reads it after step 3. Then the owner would wait in the old parker for ever. Prevented: only
// coroutines need drivers, and no coroutine runs between an announcement and its end.
//
// An owner with a parker of its own (a host's) continues to sleep there: that parker watches the driver's descriptor. A
// replaceable parker (simulated_parker) is replaced by a driver that follows the owner's clock.
//
// An owner has one driver, because a thread sleeps in one place. A driver of a second kind is refused: not_supported,
// with a notice that names both.
//
// # Assistance
//
// Any thread may call assist() at any time, also while the owner creates or destroys its driver:
//
//   another thread                                  the owner
//   1. try_lock(); fails -> returns                 create: stores the address, released
//   2. reads the address; null -> 4                 end: locks, removes the address, unlocks, destroys the driver
//   3. driver::assist()
//   4. unlock
//
// So the owner may wait for an assistant, and an assistant never waits. Hazard: if the driver were destroyed while
// another thread is in step 3, then that thread would use freed memory. Prevented by the lock.
//
// # Thread safety
//
// assist(): any thread. All other functions: the owner's thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/inbox.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class driver;
class driver_kind;

// The owner of a driver.
struct driver_owner {
  const clock_source& time;  // of its timers
  bool stays;                // it always runs on one thread: a worker, a plain thread. A loop may change threads
  bool is_guest = false;     // it sleeps in a parker of its own
};

// A driver, or the error.
struct found_driver {
  driver* found;
  std::error_code error;
};

class driver_slot {
 public:
  // `name`: of the owner, for messages. `parker`: where the owner sleeps, unless it is replaceable. Null: the owner
  // sleeps in its driver, if it has one.
  driver_slot(const driver_owner& owner, const char* name, parker* parker) noexcept
      : owner_(owner), name_(name), parker_(parker) {}
  driver_slot(const driver_slot&) = delete;
  driver_slot& operator=(const driver_slot&) = delete;
  ~driver_slot() { clear(); }

  // Returns the driver of this kind; creates it if there is none. `sleeper` is the inbox of the owner, which does not
  // sleep now. Errors: not_supported (the owner cannot have such a driver), operation_canceled (the slot is closed),
  // the error of the creation.
  found_driver get(driver_kind& kind, inbox& sleeper) noexcept;

  // Destroys the driver, on the owner's thread. No driver is created afterwards.
  void close() noexcept;

  // The driver; null if there is none.
  // ORDER: relaxed, pairs with nothing: the owner reads its own store.
  driver* current() const noexcept { return driver_.load(std::memory_order_relaxed); }

  // The number of waits at the driver. For dumps: called by the owner, or while the owner is stopped.
  std::size_t waiting() const noexcept;
  // Whether there is any wait.
  bool has_waits() const noexcept;
  // Whether an event of the driver may end a sleep until then (driver.hpp).
  bool ends_sleep(time_point until) const noexcept;

  // See above. False: there is no driver, or another thread assists it.
  bool assist() noexcept;

  // For a child of the process that created the driver. expect_same_process() is fatal there, and names the owner.
  // leave_to_parent() abandons the driver if no coroutine waits at it; then another one can be created.
  void expect_same_process() const noexcept {
    if (current()) expect_no_copy();
  }
  void leave_to_parent() noexcept;

  // Called once in each turn.
  void poll_in_turn() noexcept {
    if (current()) poll_in_time();
  }
  // Whether the driver has left work to the poll of the next turn. Then the owner must not sleep before.
  bool has_more() const noexcept { return more_; }
  // Called after a sleep: the next turn polls.
  void poll_soon() noexcept { turns_left_ = 1; }

 private:
  void poll_in_time() noexcept {
    if (--turns_left_ == 0) poll();
  }
  void poll() noexcept;
  const char* reason_to_refuse(const driver_kind& kind) const noexcept;
  std::error_code refuse(const driver_kind& kind, const char* why) const noexcept;
  std::error_code make(driver_kind& kind, inbox& sleeper) noexcept;
  bool is_copy_in_child() const noexcept;
  void expect_no_copy() const noexcept;
  std::error_code watch(int descriptor) noexcept;
  driver* remove() noexcept;
  void clear() noexcept;

  // Constant.
  const driver_owner owner_;
  const char* const name_;
  parker* const parker_;

  const driver_kind* kind_ = nullptr;  // the kind of the driver
  std::uint32_t turns_left_ = 1;
  std::uint32_t forks_ = 0;  // forks_so_far() at the creation of the driver
  bool closed_ = false;
  bool more_ = false;

  // Any thread.
  atomic<driver*> driver_{nullptr};  // owned
  thread_mutex assisted_;
};

}}}  // namespace hocket::detail
