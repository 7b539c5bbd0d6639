// The driver of the kernel's descriptors: an edge-triggered epoll, and an eventfd that ends its sleep.
//
// # Registration
//
// Each descriptor is registered once, for both directions and the end of its peer. So a request needs no epoll_ctl(2).
// The price: an event reports all readiness, also of directions without a waiter, and an edge may report nothing new.
//
// # Batches
//
// The events of one epoll_wait(2) are dispatched in about eight polls, one in each turn. So the first coroutines answer
// before the last bytes are received. Their peers continue earlier, and received bytes are still in the cache when they
// are used (docs/decisions/032). If the owner is stuck, an assistant dispatches the rest, since the system does not
// report these events again. The owner fires no timers before it has dispatched all collected events: data that arrived
// in time beats the deadline.
//
// # Sleep
//
// The owner sleeps in epoll_wait(2). The eventfd is one of its descriptors, level-triggered. An inbox wakes the driver
// at most once for each sleep, so a request in a busy program never touches the eventfd. The low half of its count
// counts wakes. The high half counts rings: a ring is no wake, but the owner has pending transfers (io_driver.hpp).
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/biased_lock.hpp>
#include <hocket/io/seam/io_driver.hpp>
#include <array>
#include <ctime>
#include <sys/epoll.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class fd_watch;

class epoll_driver final : public io_driver {
 public:
  // The driver of the calling thread. Creates it, if there is none.
  static result<io_driver*> driver_here() noexcept;
  // The driver's watch of fds, for poll_fds(). Creates it, if there is none.
  static result<fd_watch*> watch_here() noexcept;

  epoll_driver(int epoll, int event_fd, const driver_owner& owner) noexcept;
  ~epoll_driver() override;

  [[nodiscard]] bool park(time_point until) noexcept override;
  void await_wake() noexcept override;
  void wake() noexcept override;
  void poll() noexcept override;
  void assist() noexcept override;
  int descriptor() const noexcept override { return epoll_; }
  std::size_t waiting() const noexcept override;
  bool has_waits() const noexcept override;

 private:
  static constexpr int most_events = 128;
  static constexpr std::uint64_t event_fd_tag = ~std::uint64_t{0}, watch_tag = event_fd_tag - 1;

  int start_watching(open_descriptor& record) noexcept override;
  void stop_watching(open_descriptor& record) noexcept override;
  void ring() noexcept override;

  result<fd_watch*> own_watch() noexcept;
  fd_watch* existing_watch() const noexcept {
    // ORDER: acquire, pairs with the store in own_watch(): an assistant reads a complete watch.
    return watch_.load(std::memory_order_acquire);
  }
  void await_events(const timespec* limit) noexcept;
  std::pair<int, int> next_batch() noexcept;
  void dispatch_rest() noexcept;
  void collect_events(long count) noexcept;
  void read_event_fd() noexcept;
  bool take_wake() noexcept;
  void dispatch(const epoll_event& event) noexcept;

  const int epoll_;
  const int event_fd_;
  const std::uint32_t forks_;  // at construction: a copy in a forked child does not write to the parent's eventfd
  primitive::atomic<fd_watch*> watch_{nullptr};  // created by the first wait that needs it
  // Owner only.
  std::array<epoll_event, most_events> events_;
  // Guarded by events_lock_, like the events from dispatched_ to collected_.
  int collected_ = 0, dispatched_ = 0;
  biased_lock events_lock_;
  bool woken_ = false;
};

}}}  // namespace hocket::detail
