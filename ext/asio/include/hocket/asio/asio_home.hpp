// asio_home: runs coroutines on the thread of an io_context, beside its handlers. A program can turn its handlers into
// coroutines one at a time.
//
//   asio::io_context host;
//   asio_home home(host);                         // after the io_context
//   acceptor.async_accept([&](auto error, tcp::socket peer) {              // still a handler
//     if (!error) spawn(home, serve, std::move(peer));                     // a task, or a function as a fiber
//   });
//   host.run();                                   // while a coroutine lives, the io_context is not out of work
//
// An asio_home is a loop that is the guest of the io_context (runtime/loop.hpp). A turn of the loop is a handler.
// - A turn is posted if the loop has work, and never while another turn is queued. Its memory belongs to the home.
// - A turn runs at most 64 coroutines, so that handlers and coroutines alternate.
// - The next deadline is a steady_timer.
//
// Thread safety. Any thread may call spawn, cancel_all and live. Only one thread at a time runs the io_context, and
// always the same thread while begun fibers have not ended. The home is created and destroyed on that thread, or while
// no thread runs the io_context.
// Do not destroy it in one of its coroutines. Do not destroy it in a handler if the handlers that its coroutines wait
// for could not run inside of that handler.
//
// Destruction kills the remaining coroutines, and runs the io_context, restarted if necessary, until they have ended:
// their operations in Asio are cancelled and have to complete.
#pragma once
#include <hocket/asio/detail/guest.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// An executor of coroutines on the thread of an io_context; see above.
class asio_home {
 public:
  explicit asio_home(detail::net::io_context& host, const asio_home_options& options = {})
      : guest_(std::make_shared<detail::asio_guest>(host, options)) {
    guest_->turn();
  }
  asio_home(const asio_home&) = delete;
  asio_home& operator=(const asio_home&) = delete;
  ~asio_home() { guest_->close(); }

  // Used by spawn().
  spawn_target& as_spawn_target() noexcept { return guest_->own_loop(); }

  // Like the functions of loop.
  void cancel_all() noexcept { guest_->own_loop().cancel_all(); }
  std::size_t live() const noexcept { return guest_->own_loop().live(); }
  void dump(int fd) noexcept { guest_->own_loop().dump(fd); }

 private:
  const std::shared_ptr<detail::asio_guest> guest_;
};

}}  // namespace hocket
