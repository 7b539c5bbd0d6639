#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/io/seam/descriptor_table.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/seam/coroutine_snapshot.hpp>
#include <hocket/runtime/seam/worker_at.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "net/connection_limit.hpp"
#include "net/lingerer.hpp"
#include "net/memoryless_wait.hpp"
#include "net/socket_calls.hpp"
#include "net/spare_fd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

namespace hocket { inline namespace HOCKET_ABI {

using namespace std::chrono_literals;

namespace detail {

server_core::server_core(runtime& on, const tcp::serve_options& options)
    : runtime_(&on), loop_(nullptr), options_(options), connections_(on) {}
server_core::server_core(loop& on, const tcp::serve_options& options)
    : runtime_(nullptr), loop_(&on), options_(options), connections_(on) {}
server_core::~server_core() = default;

tcp::server_counts server_core::counts() const noexcept {
  // ORDER: relaxed, pairs with nothing: a number for people.
  const auto read = [](const counter& count) noexcept { return count.load(std::memory_order_relaxed); };
  return {read(accepted_), read(completed_), read(failed_), read(cancelled_), read(refused_)};
}

// --- opening

// A task whose frame exists before it is spawned: it begins also if there is no memory then.
class prepared_task {
 public:
  explicit prepared_task(task<> body) noexcept : body_(std::move(body)) {}
  prepared_task(prepared_task&&) noexcept = default;
  prepared_task& operator=(prepared_task&&) = delete;
  ~prepared_task() { std::move(body_).discard(); }
  task<> operator()() noexcept { return std::move(body_); }

 private:
  task<> body_;
};

std::error_code server_core::open(listen_target target) {
  if (const std::error_code error = open_listeners(std::move(target))) {
    listeners_.clear();
    return error;
  }
  set_limit();
  spare_ = std::make_unique<spare_fd>();
  lingerer_ = std::make_unique<lingerer>(count_);
  lingerer_->begin();
  const spawn_options options{.name = "lingerer"};
  prepared_task body(lingerer_->run());
  lingering_ = runtime_ ? spawn(*runtime_, options, std::move(body)) : spawn(*loop_, options, std::move(body));
  lists_ = std::make_unique<connection_list[]>(listeners_.size());
  acceptors_.reserve(listeners_.size());
  reapers_.reserve(listeners_.size());
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    lists_[i].set_max_idle(options_.max_idle);
    start_reaper(i);
    start_acceptor(i);
  }
  metrics_ = metric_source(*this);
  return {};
}

void server_core::start_acceptor(std::size_t index) {
  acceptors_.push_back(spawn_at(index, {.name = "acceptor"}, accept_at(index)));
}

void server_core::start_reaper(std::size_t index) {
  reapers_.push_back(spawn_at(index, {.name = "idle reaper"}, reap_idle(index)));
}

// The task begins on the worker of that acceptor.
join_handle<> server_core::spawn_at(std::size_t acceptor, const spawn_options& options, task<> task) {
  prepared_task body(std::move(task));
  if (!runtime_) return spawn(*loop_, options, std::move(body));
  worker_at place(*runtime_, acceptor % runtime_->workers());
  return spawn(place, options, std::move(body));
}

static bool is_kernel_listener(const tcp::listener& listener) noexcept { return listener.native_handle() >= 0; }

std::error_code server_core::open_listeners(listen_target target) {
  listeners_ = std::move(target.listeners);
  if (listeners_.empty() || is_kernel_listener(listeners_.front())) raise_descriptor_limit();
  if (listeners_.empty()) return bind_listeners(target.address);
  address_ = listeners_.front().local_address();
  return {};
}

// Binds a listener for each worker, if the system distributes connections to several listeners.
//
// The first listener is bound without SO_REUSEPORT. So the address is taken, and no other server has it. Then it gets
// the option, and the other listeners can join it. A second server does the same, and fails at its first listener. The
// first listener must listen before it gets the option. Hazard: two servers may have bound the address, because
// SO_REUSEADDR permits it until one listens. listen(2) checks for conflicts again, but finds none between two sockets
// with the option.
std::error_code server_core::bind_listeners(const socket_address& address) {
  const bool shares = address.is_valid() && address.kind() != socket_address::family::unix_path;
  const std::size_t count = runtime_ && shares ? runtime_->workers() : 1;
  tcp::listen_options options = options_.listen;
  address_ = address;
  for (std::size_t i = 0; i < count; ++i) {
    result<tcp::listener> listener = tcp::listener::bind(address_, options);
    if (!listener) return listener.error();
    if (i == 0 && count > 1) {
      if (const result<void> set = set_option(*listener, SOL_SOCKET, SO_REUSEPORT, 1); !set) return set.error();
      options.reuse_port = true;
    }
    address_ = listener->local_address();
    listeners_.push_back(std::move(*listener));
  }
  return {};
}

void server_core::set_limit() noexcept {
  const bool shares = options_.max_connections == 0 && is_kernel_listener(listeners_.front());
  count_.set_limits(options_.max_connections == 0 ? tcp::serve_options::unlimited : options_.max_connections,
                    shares ? &process_connections() : nullptr, process_connection_limit());
}

// --- accepting

static bool is_closed(std::error_code error) noexcept {
  return error == std::errc::operation_canceled || error == std::errc::bad_file_descriptor;
}
static bool lacks_descriptors(std::error_code error) noexcept {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
}
static bool lacks_memory(std::error_code error) noexcept {
  return error == std::errc::not_enough_memory || error == std::errc::no_buffer_space;
}

// One coroutine, which allocates nothing: server_core.hpp.
//
// Without free fds accept fails, whether a connection waits or not. So the acceptor waits for a connection, and accepts
// again, because fds may be free then. The wait fails if this worker has not waited before: its epoll needs fds, too.
task<> server_core::accept_at(std::size_t index) {
  tcp::listener& listener = listeners_[index];
  for (;;) {
    result<tcp::stream> peer = co_await memoryless_wait(listener.accept());
    if (!peer && is_closed(peer.error())) break;
    duration pause = 1ms;
    if (!peer) {
      notice_once_a_second(peer.error());
      if (!lacks_descriptors(peer.error()) && !lacks_memory(peer.error())) pause = 100ms;
    }
    if (!peer && lacks_descriptors(peer.error())) {
      const result<void> ready = co_await memoryless_wait(listener.readable());
      if (!ready && is_closed(ready.error())) break;
      peer = listener.try_accept();
      if (!peer && lacks_descriptors(peer.error()) && spare_->refuse_one(listener, refused_)) continue;
    }
    if (!peer) {
      const waited slept = co_await memoryless_wait(sleep_for(pause));
      if (!slept) break;
      continue;
    }
    if (!spare_->is_there_beside(*peer, refused_)) continue;
    connection_permits permits;
    const bool makes_room = make_room(index);
    if (!makes_room && !options_.overload_reply.empty() && !count_.try_acquire(permits)) {
      static_cast<void>(co_await memoryless_wait(within(0s, peer->write_some(options_.overload_reply))));
      refuse(std::move(*peer));
      continue;
    }
    bool stops = false;
    for (semaphore* lacking = count_.lacking(permits); lacking && !stops; lacking = count_.lacking(permits)) {
      result<semaphore::permits> acquired = co_await memoryless_wait(within(1s, lacking->acquire()));
      stops = !acquired && acquired.error() != std::errc::timed_out;
      if (acquired) count_.add(permits, *lacking, std::move(*acquired));
      else if (!stops) static_cast<void>(make_room(index));
    }
    if (stops) {
      increment(refused_);
      break;
    }
    begin_one(index, std::move(*peer), std::move(permits));
  }
  serve_rest(index);
  listener.close();
}

executor& server_core::next_home() noexcept {
  const std::size_t workers = runtime_ ? runtime_->workers() : 1;
  if (listeners_.size() >= workers) return *current_executor();
  // ORDER: relaxed, pairs with nothing: the number is all that acceptors share.
  const std::size_t index = homes_.fetch_add(1, std::memory_order_relaxed);
  return worker_at(*runtime_, index % workers).home();
}

// Call it before acquiring a permit. True: an idle connection ends.
bool server_core::make_room(std::size_t acceptor) noexcept {
  if (!count_.is_scarce()) return false;
  if (lingerer_->end_oldest()) return true;
  const time_point present = time_here();
  for (std::size_t i = 0; i != listeners_.size(); ++i) {
    if (lists_[(acceptor + i) % listeners_.size()].evict(present)) return true;
  }
  return false;
}

// The reply is written. The connection lingers, so that the reply arrives.
void server_core::refuse(tcp::stream peer) noexcept {
  increment(refused_);
  descriptor_access::record_of(peer).belongs_to(lingerer_->number_of_refused());
}

void server_core::begin_one(std::size_t acceptor, tcp::stream peer, connection_permits permits) noexcept {
  const socket_address address = options_.on_error ? peer.peer_address() : socket_address();
  try {
    begin(connection(*this, acceptor, std::move(peer), std::move(permits), address));
  } catch (...) {
    report(address, std::make_error_code(std::errc::not_enough_memory), std::current_exception());
  }
}

// Begins the connections in the system's queue. Otherwise the system resets them when the listener is closed.
void server_core::serve_rest(std::size_t acceptor) noexcept {
  for (;;) {
    connection_permits permits;
    if (!count_.try_acquire(permits)) return;
    result<tcp::stream> peer = listeners_[acceptor].try_accept();
    if (!peer) return;
    begin_one(acceptor, std::move(*peer), std::move(permits));
  }
}

// --- idle connections

// Allocates nothing, like an acceptor.
task<> server_core::reap_idle(std::size_t acceptor) {
  connection_list& connections = lists_[acceptor];
  while (!connections.is_closed()) {
    const time_point present = time_here();
    const time_point next = std::min(connections.end_idle(present), connections.check_phases(present));
    if (next <= present) {
      static_cast<void>(co_await yield());
      continue;
    }
    const result<void> changed = co_await memoryless_wait(within(next, connections.changed()));
    if (!changed && changed.error() == std::errc::operation_canceled) break;
  }
}

void server_core::notice_once_a_second(std::error_code error) noexcept try {
  const std::int64_t present = std::chrono::duration_cast<std::chrono::seconds>(time_here().time_since_epoch()).count();
  // ORDER: relaxed, pairs with nothing: the exchange lets one acceptor write the notice.
  std::int64_t last = noticed_.load(std::memory_order_relaxed);
  // ORDER: relaxed, as above. An acceptor that was delayed must not set the second back.
  if (present <= last || !noticed_.compare_exchange_strong(last, present, std::memory_order_relaxed)) return;
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "a server at %.100s cannot accept connections: %.80s",
                address_.to_string().c_str(), error.message().c_str());
  notice(text.data());
} catch (const std::bad_alloc&) {
  notice("a server cannot accept connections, and there is no memory to name it");
}

}  // namespace detail

namespace tcp {

server::server(std::unique_ptr<detail::server_core> core) noexcept : core_(std::move(core)) {}
server::server(server&&) noexcept = default;
server& server::operator=(server&& other) noexcept {
  server previous(std::move(*this));
  core_ = std::move(other.core_);
  return *this;
}
server::~server() {
  if (core_) core_->kill_and_join();
}

const socket_address& server::local_address() const noexcept { return core_->local_address(); }
std::size_t server::connections() const noexcept { return core_->connections(); }
server_counts server::counts() const noexcept { return core_->counts(); }
void server::set_max_connections(std::size_t limit) noexcept { core_->set_max_connections(limit); }
task<shutdown_report> server::graceful_shutdown(shutdown_options options) { return core_->graceful_shutdown(options); }
shutdown_report server::run_until(std::initializer_list<int> signals, const shutdown_options& options) {
  signal_set received(signals);
  return run_until(received, options);
}
shutdown_report server::run_until(signal_set& signals, const shutdown_options& options) {
  return core_->run_until(signals, options);
}

}  // namespace tcp

}}  // namespace hocket
