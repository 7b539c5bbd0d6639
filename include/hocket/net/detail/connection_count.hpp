// How many connections a server has, and the permits of its limits that they hold.
//
// A connection counts as one, and has one permit of each limit, while its handler runs, and while its descriptor
// lingers (lingerer.hpp). Both may be true at a time: a handler may destroy its stream and go on. Then the connection
// has two *holders*.
//
//   begin()   a connection, with its permit; its holder is the handler
//   share()   a second holder: a descriptor begins to linger
//   end()     a holder ends. While there are shares, the share ends. Else the connection ends, and gives its permit
//   back
//
// The shares have no owners. If the handler of connection A ends while B has two holders, then A's end() takes the
// share of B, and the next end() ends a connection. The numbers are right after each step, so which holder ends which
// connection makes no difference. If a stream lingers that has outlived its handler, its share is paid by another
// connection in the same way. If there is no other, the number is too small by one until the stream is closed.
//
// Thread safety. Any thread. wait(): one at a time.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/semaphore.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The permits of a connection.
struct connection_permits {
  semaphore::permits own, shared;
};

class connection_count {
 public:
  // Before the first connection: the limit of the server, and the semaphore of a limit that it shares with other
  // servers, which had `shared_limit` permits. Null: there is none.
  void set_limits(std::size_t limit, semaphore* shared, std::size_t shared_limit) noexcept;
  // Changes the limit of the server. One thread at a time. If there are more connections, each end takes a permit away
  // instead of giving it back: a *debt* is the number of those that are still to be taken away.
  void change_limit(std::size_t limit) noexcept;

  // A further connection would leave less than a sixteenth of a limit free, or nothing.
  bool is_scarce() const noexcept;
  // False: one of both limits is reached.
  bool try_acquire(connection_permits& permits) noexcept;
  // The limit of which there is no permit yet; null: there are all. add(): a permit of this limit.
  semaphore* lacking(const connection_permits& permits) noexcept {
    if (!permits.own) return &own_;
    return shared_ && !permits.shared ? shared_ : nullptr;
  }
  void add(connection_permits& permits, semaphore& limit, semaphore::permits acquired) noexcept {
    (&limit == &own_ ? permits.own : permits.shared) = std::move(acquired);
  }

  void begin(connection_permits&& permits) noexcept;
  void share() noexcept;
  void end() noexcept;

  std::size_t size() const noexcept {
    // ORDER: acquire, pairs with the fetch_sub in end(): what an ended connection did is visible.
    return live_.load(std::memory_order_acquire);
  }
  // Waits until a connection has ended since the last wait().
  auto wait() noexcept { return ended_.wait(); }

 private:
  std::size_t pay_debt(std::size_t most) noexcept;

  semaphore own_{0};
  std::size_t own_size_ = 0;
  semaphore* shared_ = nullptr;
  primitive::atomic<std::size_t> own_reserve_{0};  // permits that are kept free for new connections
  std::size_t shared_reserve_ = 0;
  primitive::atomic<std::size_t> debt_{0};  // permits of own_
  primitive::atomic<std::size_t> live_{0}, shares_{0};
  auto_reset_event ended_;
};

}}}  // namespace hocket::detail
