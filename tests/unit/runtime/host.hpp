// An event loop that is not hocket's: epoll with the descriptor of its guest.
#pragma once
#include <hocket/runtime/descriptor_parker.hpp>
#include <hocket/runtime/loop.hpp>

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace hocket_test {

inline bool readable(const hocket::descriptor_parker& bell) noexcept {
  pollfd reading{bell.descriptor(), POLLIN, 0};
  return ::poll(&reading, 1, 0) == 1;
}

class epoll_host {
 public:
  epoll_host(const hocket::descriptor_parker& bell, bool by_edge) : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (by_edge) event.events |= EPOLLET;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell.descriptor(), &event);
  }
  epoll_host(const epoll_host&) = delete;
  epoll_host& operator=(const epoll_host&) = delete;
  ~epoll_host() { ::close(epoll_); }

  // Until no coroutine is left.
  void run(hocket::loop& guest) {
    while (guest.live() != 0) {
      const hocket::time_point until = guest.begin_sleep();
      epoll_event event{};
      ::epoll_wait(epoll_, &event, 1, hocket::poll_timeout(until, guest.now()));
      ++waits_;
      guest.poll();
    }
  }
  int waits() const noexcept { return waits_; }

 private:
  const int epoll_;
  int waits_ = 0;
};

}  // namespace hocket_test
