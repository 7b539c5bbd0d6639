// asio_home: coroutines on the thread of an io_context, beside the handlers that are there already. So the handlers of
// a program can be made coroutines one at a time.
//
//   asio::io_context host;
//   asio_home home(host);                         // after the io_context
//   acceptor.async_accept([&](auto error, tcp::socket peer) {              // still a handler
//     if (!error) spawn(home, serve, std::move(peer));                     // a task, or a function as a fiber
//   });
//   host.run();                                   // while a coroutine lives, the io_context is not out of work
//
// What it is: a loop that is the guest of the io_context (runtime/loop.hpp). A turn of the loop is a handler: posted
// when the loop has something to do (never twice: while one stands in line no other is posted, and its memory is the
// home's own), at most 64 coroutines long, so that handlers and coroutines take turns. The next deadline is a
// steady_timer.
//
// Threads. spawn, cancel_all and live: any thread. The io_context is run by one thread at a time, and by the same one
// while fibers have begun and not ended. The home is made and destroyed on that thread, or when nobody runs the
// io_context; not by one of its coroutines, nor inside a handler if the handlers that its coroutines wait for could not
// run inside of that one.
//
// Its end. Destroying it kills the coroutines that are left, and runs the io_context, restarted if need be, until they
// have ended: what they wait for in Asio is cancelled and has to complete.
#pragma once
#include <hocket/asio/detail/guest.hpp>

namespace hocket { inline namespace HOCKET_ABI {

class asio_home {
 public:
  explicit asio_home(detail::net::io_context& host, const asio_home_options& options = {})
      : guest_(std::make_shared<detail::asio_guest>(host, options)) {
    guest_->turn();
  }
  asio_home(const asio_home&) = delete;
  asio_home& operator=(const asio_home&) = delete;
  ~asio_home() { guest_->close(); }

  // For spawn.
  spawn_target& as_spawn_target() noexcept { return guest_->own_loop(); }

  // As those of a loop.
  void cancel_all() noexcept { guest_->own_loop().cancel_all(); }
  std::size_t live() const noexcept { return guest_->own_loop().live(); }
  void dump(int fd) noexcept { guest_->own_loop().dump(fd); }

 private:
  const std::shared_ptr<detail::asio_guest> guest_;
};

}}  // namespace hocket
