// The common part of the drivers of all backends: the descriptors that a driver watches, and its pending transfers.
//
// # Attached descriptors
//
// See open_descriptor.hpp. When a driver ends, it ends the waits of its own group at the descriptors that it watches,
// with operation_canceled.
//
// # Pending transfers
//
// A party with the word of a direction sometimes cannot serve a transfer at once: the transfer is long, or the party is
// a coroutine that found other operations in the line. Then it leaves the waiter here, with the word taken. The owner
// serves the waiter in its next poll(), and does not sleep before.
//
// If the driver forgot the transfer, then the transfer would never end, because the system may report no further edge
// of this direction. Prevented: the transfer is pending until a poll() takes it.
//
// If the owner slept after another thread (an assistant, a coroutine of another loop) added a transfer, or slept
// elsewhere (a guest), then the transfer would wait as long. Prevented: ring() ends its sleep.
//
// # Locks
//
// The mutex of a descriptor is taken before the mutex of a driver.
//
// # Access
//
// poll(): see driver.hpp. attach(), detach(), add_pending(): any thread.
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
  int attach(registration& attached) noexcept;
  void detach(registration& attached) noexcept;

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

  // The system has reported an edge.
  void handle_edge(direction& side) noexcept {
    if (primitive::waiter* const entry = side.edge()) serve(side, *entry);
  }
  // A poll takes the pending transfers first and serves them last. A transfer that becomes pending meanwhile rings, and
  // belongs to the next poll.
  transfer* take_pending() noexcept { return has_pending() ? take_all_pending() : nullptr; }
  void serve_pending(transfer* pending) noexcept {
    if (pending) [[unlikely]]
      serve_all_pending(pending);
  }
  bool has_pending() const noexcept {
    // ORDER: relaxed, pairs with nothing: the owner's own, or its sleep ends by ring().
    return pending_.load(std::memory_order_relaxed) != nullptr;
  }

 private:
  // Under the mutex of the descriptor: the system reports its edges from now on, and its present state at once.
  virtual int start_watching(open_descriptor& record) noexcept = 0;
  virtual void stop_watching(open_descriptor& record) noexcept = 0;
  // Any thread: the owner does not sleep before its next poll().
  virtual void ring() noexcept = 0;

  void serve(direction& side, primitive::waiter& entry) noexcept;
  void serve_all_pending(transfer* pending) noexcept;
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
