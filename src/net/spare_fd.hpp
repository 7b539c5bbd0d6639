// The reserved fd with which a server refuses connections when the process has no free fd.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/net/detail/server_core.hpp>

#include <fcntl.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

// If the process has no free fd, refuse_one() closes the spare, accepts a connection with its number, closes the
// connection, and opens the spare again. All acceptors of a server share it.
//
// Hazard. If one acceptor closes the spare, another acceptor may accept a connection with its number, because the
// numbers belong to the process. Then the spare is lost, and the server cannot refuse connections until one ends.
// Prevented by `missing_`: it is set before the spare is closed. An acceptor that finds it set after an accept refuses
// its connection, and takes its number as the spare.
class server_core::spare_fd {
  using counter = atomic<std::size_t>;

 public:
  spare_fd() noexcept { take(); }
  spare_fd(const spare_fd&) = delete;
  spare_fd& operator=(const spare_fd&) = delete;
  ~spare_fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  // Call it after an accept. False: the spare was missing, and the connection was refused to get it back.
  bool is_there_beside(tcp::stream& accepted, counter& refused) noexcept {
    // ORDER: acquire, pairs with the store in refuse_one(): the spare is closed after the store, and the system orders
    // that close before the accept that got the number.
    if (!missing_.load(std::memory_order_acquire)) return true;
    locked guard(mutex_);
    if (take()) return true;
    // ORDER: relaxed, pairs with nothing: a statistic.
    refused.fetch_add(1, std::memory_order_relaxed);
    accepted.close();
    take();
    return false;
  }

  // Accepts and closes one connection. False: no connection waits, or there is no spare.
  bool refuse_one(tcp::listener& listener, counter& refused) noexcept {
    locked guard(mutex_);
    if (!take()) return false;
    bool found = false;
    // ORDER: release, pairs with the load in is_there_beside(): see there.
    missing_.store(true, std::memory_order_release);
    ::close(std::exchange(fd_, -1));
    {
      const result<tcp::stream> refused_peer = listener.try_accept();
      found = refused_peer.has_value();
      // ORDER: relaxed, pairs with nothing: a statistic.
      if (found) refused.fetch_add(1, std::memory_order_relaxed);
    }
    take();
    return found;
  }

 private:
  // Under the mutex. Opens the spare if it is missing. Returns whether there is one.
  bool take() noexcept {
    if (fd_ < 0) fd_ = own_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    // ORDER: relaxed, pairs with nothing: an acceptor that reads an old value checks again under the mutex.
    missing_.store(fd_ < 0, std::memory_order_relaxed);
    return fd_ >= 0;
  }

  primitive::thread_mutex mutex_;
  int fd_ = -1;  // guarded by the mutex
  atomic<bool> missing_{false};
};

}}}  // namespace hocket::detail
