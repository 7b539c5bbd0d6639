// What a server is made of: acceptors, the connections' scope, and its end in steps.
//
//   acceptors    tasks, one for each listener, which begin at their workers
//   connections  a scope below the runtime or loop: cancelled, killed and joined at the end
//   ended_       is set by each connection that ends while the server ends
//
// If there is a limit, an acceptor takes a permit for the connection that it has accepted, before that begins, and the
// connection gives it back. (With the permit taken before, acceptors that nobody connects to would keep permits.)
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/serve_options.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/semaphore.hpp>
#include <memory>
#include <tuple>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Where a server listens. The constructors convert what tcp::serve() takes.
struct listen_target {
  template <class Address>
    requires std::is_convertible_v<const Address&, socket_address>
  listen_target(const Address& local) : address(local) {}
  listen_target(tcp::listener only) { listeners.push_back(std::move(only)); }
  listen_target(std::vector<tcp::listener> all) noexcept : listeners(std::move(all)) {}

  socket_address address;                // if there are no listeners
  std::vector<tcp::listener> listeners;  // which are open already
};

class server_core : public from_memory_source {
 public:
  server_core(runtime& on, const tcp::serve_options& options);
  server_core(loop& on, const tcp::serve_options& options);
  server_core(const server_core&) = delete;
  server_core& operator=(const server_core&) = delete;
  virtual ~server_core();

  std::error_code open(listen_target target);
  task<shutdown_report> shutdown(shutdown_options options);
  shutdown_report run_until(std::initializer_list<int> signals, const shutdown_options& options);
  // By a plain thread.
  void kill_and_join() noexcept;

  const socket_address& local_address() const noexcept { return address_; }
  std::size_t connections() const noexcept {
    // ORDER: relaxed, pairs with nothing: a number for people.
    return live_.load(std::memory_order_relaxed);
  }
  tcp::server_counts counts() const noexcept;

 protected:
  // An accepted connection, from before its coroutine is spawned to the coroutine's end, also if that never began.
  class connection {
   public:
    connection(server_core& of, tcp::stream peer);
    connection(connection&& other) noexcept
        : peer(std::move(other.peer)), of_(std::exchange(other.of_, nullptr)), address_(std::move(other.address_)) {}
    connection& operator=(connection&&) = delete;
    ~connection();

    void returned(std::error_code error) noexcept;
    // In a catch (...). Rethrows a kill.
    void threw();

    tcp::stream peer;

   private:
    void tell(std::error_code error, const std::exception_ptr& thrown) noexcept;
    server_core* of_;                          // null: moved
    std::unique_ptr<socket_address> address_;  // of the peer, if anybody wants to know
  };

  const spawn_options& options_of_connections() const noexcept { return options_.connection; }
  scope& connections_scope() noexcept { return connections_; }

 private:
  virtual void begin(connection one) = 0;

  class spare_fd;
  std::error_code open_listeners(const socket_address& address);
  task<> accept_at(std::size_t index);
  task<bool> take_in(tcp::stream peer);
  task<bool> get_permit();
  void begin_one(tcp::stream peer) noexcept;
  connection make_connection(tcp::stream peer);
  void serve_rest(tcp::listener& listener) noexcept;
  task<bool> recover(tcp::listener& listener, std::error_code error);
  task<bool> serve_or_refuse(tcp::listener& listener);
  void notice_once_a_second(std::error_code error) noexcept;
  task<shutdown_report> await_signal(signal_set& asked, shutdown_options options);
  task<bool> wait_until_empty(duration at_most);
  template <class T>
  T run_here(join_handle<T> handle);

  runtime* const runtime_;
  loop* const loop_;
  const tcp::serve_options options_;
  const std::uint64_t family_;  // of the descriptors of its connections
  socket_address address_;
  std::vector<tcp::listener> listeners_;
  std::unique_ptr<spare_fd> spare_;  // while there are acceptors
  semaphore permits_;
  atomic<std::size_t> live_{0}, accepted_{0}, failed_{0}, refused_{0};
  atomic<std::int64_t> noticed_{0};
  auto_reset_event ended_;
  bool over_ = false;
  std::vector<join_handle<>> acceptors_;
  scope connections_;  // the last member: its end waits for them
};

template <class T>
std::error_code error_of(const T&) noexcept {
  return {};
}
template <class T>
std::error_code error_of(const result<T>& returned) noexcept {
  return returned ? std::error_code{} : returned.error();
}

template <class Handler, class... Args>
class server_of final : public server_core {
 public:
  template <class Where>
  server_of(Where& where, const tcp::serve_options& options, Handler&& handler, Args&&... args)
      : server_core(where, options), call_(std::move(handler), std::move(args)...) {}

 private:
  using call = std::tuple<Handler, Args...>;
  using returned = std::invoke_result_t<Handler&, tcp::stream, Args&...>;

  static decltype(auto) invoke(call& what, tcp::stream&& peer) {
    return std::apply([&](Handler& handler, Args&... args) -> returned { return handler(std::move(peer), args...); },
                      what);
  }

  // Its end is settled here, so a connection has no frame but its handler's.
  struct connection_task {
    returned operator()() { return invoke(what, std::move(one.peer)); }
    void settle(returned& body) {
      try {
        if constexpr (std::is_void_v<typename returned::value_type>) body.await_resume();
        else one.returned(error_of(body.await_resume()));
      } catch (...) {
        one.threw();
      }
    }
    call what;
    connection one;
  };
  static void run_fiber(call what, connection one) {
    try {
      if constexpr (std::is_void_v<returned>) invoke(what, std::move(one.peer));
      else one.returned(error_of(invoke(what, std::move(one.peer))));
    } catch (...) {
      one.threw();
    }
  }

  void begin(connection one) override {
    if constexpr (is_task<returned>)
      static_cast<void>(spawn(connections_scope(), options_of_connections(), connection_task{call_, std::move(one)}));
    else static_cast<void>(spawn(connections_scope(), options_of_connections(), &run_fiber, call_, std::move(one)));
  }

  call call_;
};

}  // namespace detail

}}  // namespace hocket
