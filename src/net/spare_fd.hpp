// What lets a server refuse connections when there are no descriptors left.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/net/detail/server_core.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

// A descriptor that is given up when there are no others, so that connections can be accepted and closed. All acceptors
// of a server share it.
//
// Hazard. If one acceptor gives the spare up, then another one may accept a connection with its fd, because numbers
// belong to the process. Nobody would get the fd back, and no connection could be refused until one ends. Prevented
// by `missing_`: it is set before the spare is given up, and an acceptor that finds it set after an accept makes the
// number of its connection the spare.
class server_core::spare_fd {
  using counter = atomic<std::size_t>;

 public:
  spare_fd() noexcept { take(); }
  spare_fd(const spare_fd&) = delete;
  spare_fd& operator=(const spare_fd&) = delete;
  ~spare_fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  // After an accept. False: there was no spare, and the connection is refused for it.
  bool is_there_beside(tcp::stream& accepted, counter& refused) noexcept {
    // ORDER: acquire, pairs with the store in refuse_one(): the number of the connection was given up behind it, and
    // the system orders the two.
    if (!missing_.load(std::memory_order_acquire)) return true;
    locked guard(mutex_);
    if (take()) return true;
    // ORDER: relaxed, pairs with nothing: a number for people.
    refused.fetch_add(1, std::memory_order_relaxed);
    accepted.close();
    take();
    return false;
  }

  // Accepts and closes one connection. False: none waits, or there is no spare.
  bool refuse_one(tcp::listener& door, counter& refused) noexcept {
    locked guard(mutex_);
    if (!take()) return false;
    bool found = false;
    // ORDER: release, pairs with the load in is_there_beside(): see there.
    missing_.store(true, std::memory_order_release);
    ::close(std::exchange(fd_, -1));
    {
      const result<tcp::stream> shed = door.try_accept();
      found = shed.has_value();
      // ORDER: relaxed, pairs with nothing: a number for people.
      if (found) refused.fetch_add(1, std::memory_order_relaxed);
    }
    take();
    return found;
  }

 private:
  // Under the mutex. Whether there is a spare.
  bool take() noexcept {
    if (fd_ < 0) fd_ = own_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    // ORDER: relaxed, pairs with nothing: an acceptor that reads an old value looks again under the mutex.
    missing_.store(fd_ < 0, std::memory_order_relaxed);
    return fd_ >= 0;
  }

  primitive::thread_mutex mutex_;
  int fd_ = -1;  // guarded by the mutex
  atomic<bool> missing_{false};
};

}}}  // namespace hocket::detail
