// The driver of the kernel's descriptors: an epoll, edge-triggered, and an eventfd that ends its sleep.
//
// Each descriptor is registered once, for both directions and the end of its peer. So a request costs no epoll_ctl(2).
// The price: an event tells all that is ready, also what nobody waits for, and an edge may tell of nothing new.
//
// Shares. What one epoll_wait(2) has told is handed on in about eight polls, one in each turn: so the first coroutines
// answer before the last bytes are received. Their peers go on earlier, and what was received is still in the cache
// when it is used (docs/decisions/032). An assistant of a stuck owner takes the rest, since the system tells it no
// more. The owner fires no timers before it has told the rest: data that has come in time beats the deadline.
//
// Sleeping. The owner sleeps in epoll_wait(2), and the eventfd is one of its descriptors, level-triggered. An inbox
// wakes at most once for each sleep, so a request in a busy program never touches the eventfd. Its low half counts
// wakes. Its high half counts rings: nobody has woken the owner, but it has pending transfers (io_driver.hpp).
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
  // Of the thread that calls; made, if there is none.
  static result<io_driver*> driver_here() noexcept;
  // Its watch of numbers, for poll_fds(): the same.
  static result<fd_watch*> watch_here() noexcept;

  epoll_driver(int epoll, int bell, const driver_owner& owner) noexcept;
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
  static constexpr std::uint64_t the_bell = ~std::uint64_t{0}, the_fds = the_bell - 1;

  int start_watching(open_descriptor& one) noexcept override;
  void stop_watching(open_descriptor& one) noexcept override;
  void ring() noexcept override;

  result<fd_watch*> fds() noexcept;
  fd_watch* made_watch() const noexcept {
    // ORDER: acquire, pairs with the store in numbers(): an assistant finds it whole.
    return watch_.load(std::memory_order_acquire);
  }
  void collect(const timespec* limit) noexcept;
  std::pair<int, int> take_share() noexcept;
  void assist_with_rest() noexcept;
  void take_in(long got) noexcept;
  void read_bell() noexcept;
  bool take_wake() noexcept;
  void tell_of(const epoll_event& event) noexcept;

  const int epoll_;
  const int bell_;
  const std::uint32_t forks_;  // when it was made: a copy in a forked child rings no bell of the parent
  primitive::atomic<fd_watch*> watch_{nullptr};  // made when the first wait needs it
  // The owner's.
  std::array<epoll_event, most_events> events_;
  // Guarded by rest_, as the events between them: what is collected and not told.
  int collected_ = 0, told_ = 0;
  biased_lock rest_;
  bool woken_ = false;
};

}}}  // namespace hocket::detail
