// What a server is made of: acceptors, the connections' scope, a lingerer, and its end in steps.
//
//   acceptors    tasks, one for each listener, which begin at their workers
//   connections  a scope below the runtime or loop: cancelled, killed and joined at the end
//   lists_       for each acceptor its connections, by the time since when they are idle (connection_list.hpp)
//   reapers_     tasks, one for each list: end connections that have been idle for too long
//   count_       the connections, and the permits that they have (connection_count.hpp)
//   lingerer_    closes connections with peers that may still send (src/net/lingerer.hpp)
//
// # Permits
//
// There are two limits: the server's, which may change, and a limit that it shares with the servers without a limit
// of their own. An acceptor takes a permit of each for the connection that it has accepted, before that begins. (With
// the permits taken before, acceptors that nobody connects to would keep permits.) From try_acquire() or acquire() to
// connection_count::begin() the permits are objects that give themselves back. So no error in between loses them.
//
// If a further connection would leave less than a sixteenth of a limit free, the acceptor ends a connection that
// lingers, else the oldest idle one of its own list, else of another acceptor's. If none is idle, the peer waits, or
// gets the reply; and each second the acceptor tries again.
//
// # Connections that are no coroutines
//
// begin() makes what serves a connection. server_of spawns a coroutine; another server may make a job_connection
// (job_connection.hpp). It is in its list from start() on. The list notifies it when the server cancels its
// connections.
//
// # Memory
//
// A server must outlast the want of memory. So an acceptor allocates nothing: it is one coroutine, without tasks of its
// own, and its waits are in its frame (src/net/memoryless_wait.hpp). A connection allocates: its handler's coroutine.
// If that fails, the connection is closed, on_error is called, and the acceptor goes on. The destructor of a running
// server allocates nothing, either: kill_and_join() waits on its own thread.
//
// # The handler
//
// The handler and its arguments are stored once. All connections use them at a time, so they are constant. A handler
// that is a lambda coroutine refers to its captures: they live as long as the server, whose destructor joins all
// connections before it destroys them.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/base/metrics.hpp>
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/net/detail/connection_count.hpp>
#include <hocket/net/detail/connection_list.hpp>
#include <hocket/net/serve_options.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/semaphore.hpp>
#include <tuple>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

class signal_set;

namespace detail {

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

class coroutine_snapshot;
class lingerer;

class server_core : public from_memory_source {
 public:
  server_core(runtime& on, const tcp::serve_options& options);
  server_core(loop& on, const tcp::serve_options& options);
  server_core(const server_core&) = delete;
  server_core& operator=(const server_core&) = delete;
  virtual ~server_core();

  // Throws std::bad_alloc; then kill_and_join() ends what has begun.
  std::error_code open(listen_target target);
  // Throws std::bad_alloc; then it may be called again.
  task<shutdown_report> graceful_shutdown(shutdown_options options);
  shutdown_report run_until(signal_set& signals, const shutdown_options& options);
  // By a plain thread.
  void kill_and_join() noexcept;

  const socket_address& local_address() const noexcept { return address_; }
  std::size_t connections() const noexcept { return count_.size(); }
  tcp::server_counts counts() const noexcept;
  void set_max_connections(std::size_t limit) noexcept { count_.change_limit(limit); }
  // By the list of sources (base/metrics.hpp), from open() on.
  void report_metrics(metric_visitor& to) const;

  scope& connections_scope() noexcept { return connections_; }
  const spawn_options& options_of_connections() const noexcept { return options_.connection; }

  // An accepted connection, from before its coroutine is spawned to the coroutine's end, also if that never began; or
  // of a job_connection.
  class connection : public listed_connection {
   public:
    // `acceptor` is the index of the acceptor, `address` the peer's, if there is an on_error. Throws std::bad_alloc.
    connection(server_core& owner, std::size_t acceptor, tcp::stream peer, connection_permits permits,
               const socket_address& address);
    connection(connection&& other) noexcept;
    connection& operator=(connection&&) = delete;
    ~connection();

    // It is where it stays, and has its stream: from now on it may end when it is idle.
    void enlist() noexcept;
    // From now on the list does not touch it.
    void leave_list() noexcept;
    // The handler begins; and ends.
    void begin() noexcept;
    void returned(std::error_code error) noexcept;
    // In a catch (...). Rethrows a kill.
    void threw();
    // In a catch (...): there was no memory to begin the handler.
    void could_not_begin() noexcept;

    server_core& server() const noexcept { return *owner_; }

   protected:
    bool is_running() const noexcept { return state_ == state::running; }
    void list_phase(phased_connection& begun) noexcept;
    void unlist_phase(phased_connection& ended) noexcept;

   private:
    // Of the handler. An ended one has been counted; a running one that is destroyed was cancelled or killed.
    enum class state : std::uint8_t { unbegun, running, ended };
    void fail(std::error_code error, const std::exception_ptr& thrown) noexcept;

    state state_ = state::unbegun;
    bool is_listed_ = false;
    std::uint32_t acceptor_;
    server_core* owner_;                       // null: moved
    std::unique_ptr<socket_address> address_;  // of the peer, if on_error wants it

   public:
    tcp::stream peer;
  };

 protected:
  // By begin(): where the runs of a job_connection are. The acceptor's thread; if there are fewer listeners than
  // workers, one worker after the other, because the others would not get a connection.
  executor& next_home() noexcept;

 private:
  virtual void begin(connection accepted) = 0;

  class spare_fd;
  using counter = atomic<std::size_t>;
  static void increment(counter& number) noexcept {
    // ORDER: relaxed, pairs with nothing: a number for people.
    number.fetch_add(1, std::memory_order_relaxed);
  }

  // --- opening
  std::error_code open_listeners(listen_target target);
  std::error_code bind_listeners(const socket_address& address);
  void set_limit() noexcept;
  void start_acceptor(std::size_t index);

  // --- accepting
  task<> accept_at(std::size_t index);
  bool make_room(std::size_t acceptor) noexcept;
  void begin_one(std::size_t acceptor, tcp::stream peer, connection_permits permits) noexcept;
  void refuse(tcp::stream peer) noexcept;
  void serve_rest(std::size_t acceptor) noexcept;
  void notice_once_a_second(std::error_code error) noexcept;
  void report(const socket_address& peer, std::error_code error, const std::exception_ptr& thrown) const noexcept {
    if (options_.on_error) options_.on_error(peer, error, thrown);
  }

  // --- idle connections
  task<> reap_idle(std::size_t acceptor);
  void start_reaper(std::size_t acceptor);
  join_handle<> spawn_at(std::size_t acceptor, const spawn_options& options, task<> body);

  // --- the end
  void stop_jobs() noexcept;
  void stop_reapers() noexcept;
  task<> join_acceptors();
  task<> join_lingerer();
  task<shutdown_report> await_signal(signal_set& signals, shutdown_options options);
  task<bool> wait_until_empty(duration at_most);
  coroutine_snapshot snapshot(const shutdown_options& options) noexcept;
  bool is_running() const noexcept;
  void wait_for_leaving() const noexcept;
  template <class T>
  result<T> join_here(join_handle<T>& handle);
  void join_connections_here() noexcept;

  runtime* const runtime_;
  loop* const loop_;
  const tcp::serve_options options_;
  socket_address address_;
  std::vector<tcp::listener> listeners_;
  std::unique_ptr<spare_fd> spare_;  // while there are acceptors
  connection_count count_;
  counter accepted_{0}, completed_{0}, failed_{0}, cancelled_{0}, refused_{0};
  atomic<std::int64_t> noticed_{0};
  counter homes_{0};
  bool is_shut_down_ = false;
  std::vector<join_handle<>> acceptors_, reapers_;
  std::unique_ptr<connection_list[]> lists_;  // one for each acceptor
  std::unique_ptr<lingerer> lingerer_;
  join_handle<> lingering_;  // its coroutine
  scope connections_;        // its end waits for them
  metric_source metrics_;    // the last member: a report reads the others
};

template <class T>
std::error_code error_of(const T&) noexcept {
  return {};
}
template <class T>
std::error_code error_of(const result<T>& returned) noexcept {
  return returned ? std::error_code{} : returned.error();
}

// A server with its handler and the handler's arguments, which all connections share.
template <class Handler, class... Args>
class server_of final : public server_core {
 public:
  template <class Executor, class... Given>
  server_of(Executor& executor, const tcp::serve_options& options, Handler&& handler, Given&&... args)
      : server_core(executor, options), call_(std::move(handler), to_store<Args>(std::move(args))...) {}

 private:
  using call = std::tuple<Handler, Args...>;
  using handler_result = std::invoke_result_t<const Handler&, tcp::stream, const Args&...>;

  // A connection has no pointer to the handler of its own: an idle one would be larger.
  static handler_result invoke(connection& self) {
    return std::apply([&](const Handler& handler,
                          const Args&... args) -> handler_result { return handler(std::move(self.peer), args...); },
                      static_cast<const server_of&>(self.server()).call_);
  }

  // Its end is settled here, so a connection has no frame but its handler's.
  struct connection_task {
    handler_result operator()() {
      accepted.enlist();
      handler_result body = invoke(accepted);
      accepted.begin();
      return body;
    }
    void settle_failed_call() noexcept { accepted.could_not_begin(); }
    void settle(handler_result& body) {
      try {
        if constexpr (std::is_void_v<typename handler_result::value_type>) {
          body.await_resume();
          accepted.returned({});
        } else {
          accepted.returned(error_of(body.await_resume()));
        }
      } catch (...) {
        accepted.threw();
      }
    }
    connection accepted;
  };
  struct connection_fiber {
    void operator()() {
      accepted.enlist();
      accepted.begin();
      try {
        if constexpr (std::is_void_v<handler_result>) {
          invoke(accepted);
          accepted.returned({});
        } else {
          accepted.returned(error_of(invoke(accepted)));
        }
      } catch (...) {
        accepted.threw();
      }
    }
    connection accepted;
  };

  void begin(connection accepted) override {
    using body = std::conditional_t<is_task<handler_result>, connection_task, connection_fiber>;
    static_cast<void>(spawn(connections_scope(), options_of_connections(), body{std::move(accepted)}));
  }

  const call call_;
};

// The server of a handler and given arguments, some of which are stored as what the handler refers to
// (core/spawn/detail/call_parameters.hpp).
template <class Handler, class Stored>
struct server_type;
template <class Handler, class... Args>
struct server_type<Handler, std::tuple<tcp::stream, Args...>> {
  using type = server_of<Handler, Args...>;
};
template <class Handler, class... Given>
using server_for = typename server_type<Handler, typename stored_call_of<Handler, tcp::stream, Given...>::types>::type;

}  // namespace detail

}}  // namespace hocket
