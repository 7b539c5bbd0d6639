// What the drivers of all backends have in common: which descriptors they watch, and which transfers they go on with.
//
// Attached descriptors: open_descriptor.hpp. At its end a driver ends the waits of its own group at what it watches,
// with operation_canceled.
//
// Pending transfers. A party that has a direction's word may not be able to go on now: the transfer is long, or the
// party is a coroutine that found other operations in the line. Then it leaves the waiter here, with the word taken.
// The owner goes on with it in its next poll(), and does not sleep before.
//   - The system may tell no further edge of this direction. If the driver forgot the transfer, it would never end.
//   - The owner may be asleep when another thread adds one (an assistant, a coroutine of another loop), or it may sleep
//     elsewhere (a guest): ring() ends its sleep.
//
// Locks. The mutex of a descriptor is taken before the mutex of a driver.
//
// Access. poll(): see driver.hpp. attach(), detach(), add_pending(): any thread.
#pragma once
#include <hocket/base/seam/list.hpp>
#include <hocket/core/thread/seam/driver.hpp>
#include <hocket/io/detail/direction.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class io_driver : public driver {
 public:
  // Under the mutex of the descriptor. An error number; 0: it is watched. EPERM: it is attached, but cannot be watched.
  int attach(registration& one) noexcept;
  void detach(registration& one) noexcept;

  // The caller has the word of `entry`'s direction.
  void add_pending(primitive::waiter& entry) noexcept;

  // For dumps. A guess while threads run.
  std::size_t waiting() const noexcept override;
  bool has_waits() const noexcept override;

 protected:
  io_driver(std::uint32_t turns_between_polls, const driver_owner& owner) noexcept;
  ~io_driver() override;

  // The destructor of the class that knows the system calls this first.
  void end_all_waits() noexcept;

  // The system has told of an edge.
  void tell(direction& of) noexcept {
    if (primitive::waiter* const entry = of.edge()) go_on_with(of, *entry);
  }
  // A poll takes what was pending before it, and goes on with that last: what it rings for is for the next one.
  transfer* take_pending() noexcept { return has_pending() ? take_all_pending() : nullptr; }
  void go_on_with(transfer* pending) noexcept {
    if (pending) [[unlikely]]
      go_on_with_all(pending);
  }
  bool has_pending() const noexcept {
    // ORDER: relaxed, pairs with nothing: the owner's own, or its sleep ends by ring().
    return pending_.load(std::memory_order_relaxed) != nullptr;
  }

 private:
  // Under the mutex of the descriptor: the system tells of its edges from now on, and of the present state at once.
  virtual int start_watching(open_descriptor& one) noexcept = 0;
  virtual void stop_watching(open_descriptor& one) noexcept = 0;
  // Any thread: the owner does not sleep before its next poll().
  virtual void ring() noexcept = 0;

  void go_on_with(direction& of, primitive::waiter& entry) noexcept;
  void go_on_with_all(transfer* pending) noexcept;
  registration* first_attached() noexcept;
  transfer* take_all_pending() noexcept;

  const void* const owner_;  // src/io/place.hpp
  const bool is_guest_;      // its owner sleeps elsewhere

  mutable primitive::thread_mutex mutex_;
  mutable list<registration> attached_;            // guarded by mutex_
  primitive::atomic<transfer*> pending_{nullptr};  // guarded by mutex_; read without it
  transfer* last_pending_ = nullptr;               // guarded by mutex_
};

}}}  // namespace hocket::detail
