// Where an owner has its driver (core/thread/seam/driver.hpp): a service that is made when the first operation asks
// for it.
//
//   struct reading {                                                       // an operation of the driver
//     void begin(suspension& wait, waiter& entry) noexcept {
//       const auto here = driver_here(epoll_drivers);                      // a result
//       if (!here) return fail(here.error());
//       (*here)->begin(*this, wait, entry);
//     }
//
// Adoption. A driver comes in the middle of a turn, when its owner may have slept on a futex many times:
//
//   the owner                                        a thread that posts
//   1. sleep: announces it, parks on the futex       a. replaces the announcement (inbox.hpp)
//   2. is woken, takes the announcement back         b. wakes the parker that was announced
//   3. a coroutine asks for the driver: sleep_in()
//   4. the next sleep: announces it, parks in the driver
//
// Only the thread that replaced the announcement reads which parker is to be woken, and the owner does not leave step 2
// before that wake has had its effect. Between 2 and 4 nothing is announced. So step 3 is a plain store.
// Hazard: if the parker changed while a sleep is announced, then a late wake could reach the new parker, because the
// thread of step b reads it after step 3. Then the owner would wait in the old one for ever. Prevented: only coroutines
// ask for drivers, and no coroutine runs between an announcement and its end.
//
// A bed of the owner's own (a host's parker) stays where the owner sleeps: it watches the driver's descriptor. A bed
// that gives way (simulated_parker) is replaced by a driver that follows the owner's clock.
//
// One driver for each owner, since a thread sleeps in one place. A second kind is refused: not_supported, with a notice
// that names both.
//
// Assistance. assist() may come from any thread, at any time, also as the owner makes its driver or ends it:
//
//   another thread                                  the owner
//   1. try_lock(); fails -> goes away               make: stores the address, released
//   2. reads the address; none -> 4                 end: locks, takes the address out, unlocks, destroys the driver
//   3. driver::assist()
//   4. unlock
//
// So the owner waits for an assistant that is there, and an assistant for nobody. Hazard: if the driver were destroyed
// while another thread is in step 3, then that thread would use freed memory. Prevented by the lock.
//
// Access. assist(): any thread. Everything else: the owner's thread.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/inbox.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class driver;
class driver_kind;

// Who wants a driver.
struct driver_owner {
  const clock_source& time;  // of its timers
  bool stays;                // it runs on one thread for ever: a worker, a plain thread. A loop may change threads
  bool is_guest = false;     // it sleeps in a parker of its own
};

// A driver, or why there is none.
struct found_driver {
  driver* found;
  std::error_code error;
};

class driver_slot {
 public:
  // `name` of the owner is for people. `bed`: what the owner sleeps in whatever comes, unless it gives way; null: in
  // its driver, if it has one.
  driver_slot(const driver_owner& owner, const char* name, parker* parker) noexcept
      : owner_(owner), name_(name), parker_(parker) {}
  driver_slot(const driver_slot&) = delete;
  driver_slot& operator=(const driver_slot&) = delete;
  ~driver_slot() { clear(); }

  // Of that kind; made, if there is none. `sleeper` is the owner's inbox, which does not sleep now. Errors:
  // not_supported (the owner cannot have such a driver), operation_canceled (it has ended), what the making fails with.
  found_driver get(driver_kind& kind, inbox& sleeper) noexcept;

  // Ends it, on the owner's thread. Nothing is made from then on.
  void close() noexcept;

  // The driver; null if none is made.
  // ORDER: relaxed, pairs with nothing: the owner's own store.
  driver* current() const noexcept { return driver_.load(std::memory_order_relaxed); }

  // How many wait at it. For dumps: the owner, or while it stands still.
  std::size_t waiting() const noexcept;
  // Whether any does.
  bool has_waits() const noexcept;
  // Whether a sleep until then would be ended there (driver.hpp).
  bool ends_sleep(time_point until) const noexcept;

  // See above. Whether there was a driver, and nobody else at it.
  bool assist() noexcept;

  // In a child of the process that made the driver: fatal, naming the owner; or the driver is left to the parent, where
  // nobody waits at it, and another one can be made.
  void expect_same_process() const noexcept {
    if (current()) expect_no_copy();
  }
  void leave_to_parent() noexcept;

  // Once in each turn.
  void poll_in_turn() noexcept {
    if (current()) poll_in_time();
  }
  // The driver has left something to the next turn's poll: the owner must not sleep before.
  bool has_more() const noexcept { return more_; }
  // The owner has slept: the next turn polls.
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

  const driver_kind* kind_ = nullptr;  // of the driver
  std::uint32_t turns_left_ = 1;
  std::uint32_t forks_ = 0;  // when it was made
  bool closed_ = false;
  bool more_ = false;

  // Any thread.
  atomic<driver*> driver_{nullptr};  // owned
  thread_mutex assisted_;
};

}}}  // namespace hocket::detail
