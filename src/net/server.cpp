#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/core/detail/timer.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/detail/descriptor_table.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/detail/worker_at.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>
#include <net/spare_fd.hpp>

#include <array>
#include <cerrno>
#include <cstdio>

namespace hocket { inline namespace HOCKET_ABI {

using namespace std::chrono_literals;

namespace detail {

static std::uint64_t next_family() noexcept {
  static constinit atomic<std::uint64_t> last{0};
  // ORDER: relaxed, pairs with nothing: an fd that nobody else gets.
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

server_core::server_core(runtime& on, const tcp::serve_options& options)
    : runtime_(&on),
      loop_(nullptr),
      options_(options),
      family_(next_family()),
      permits_(options.max_connections),
      connections_(on) {}
server_core::server_core(loop& on, const tcp::serve_options& options)
    : runtime_(nullptr),
      loop_(&on),
      options_(options),
      family_(next_family()),
      permits_(options.max_connections),
      connections_(on) {}
server_core::~server_core() = default;

tcp::server_counts server_core::counts() const noexcept {
  // ORDER: relaxed, pairs with nothing: numbers for people; so with the next two.
  return {accepted_.load(std::memory_order_relaxed), failed_.load(std::memory_order_relaxed),
          refused_.load(std::memory_order_relaxed)};
}

// --- opening

std::error_code server_core::open(listen_target target) {
  listeners_ = std::move(target.listeners);
  if (!listeners_.empty()) address_ = listeners_.front().local_address();
  else if (const std::error_code error = open_listeners(target.address)) return over_ = true, error;
  spare_ = std::make_unique<spare_fd>();
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    const spawn_options options{.name = "acceptor"};
    if (runtime_) {
      worker_at place(*runtime_, i % runtime_->workers());
      acceptors_.push_back(spawn(place, options, &server_core::accept_at, this, i));
    } else {
      acceptors_.push_back(spawn(*loop_, options, &server_core::accept_at, this, i));
    }
  }
  return {};
}

// Has a listener for each worker, if the system deals connections to several.
std::error_code server_core::open_listeners(const socket_address& address) {
  const bool shares = address.is_valid() && address.kind() != socket_address::family::unix_path;
  const std::size_t count = runtime_ && shares ? runtime_->workers() : 1;
  tcp::listen_options options = options_.listen;
  options.reuse_port = options.reuse_port || count > 1;
  address_ = address;
  for (std::size_t i = 0; i < count; ++i) {
    result<tcp::listener> listener = tcp::listener::bind(address_, options);
    if (!listener) return listener.error();
    address_ = listener->local_address();
    listeners_.push_back(std::move(*listener));
  }
  return {};
}

// --- accepting

task<> server_core::accept_at(std::size_t index) {
  tcp::listener& listener = listeners_[index];
  for (bool goes_on = true; goes_on;) {
    result<tcp::stream> peer = co_await listener.accept();
    if (peer) goes_on = co_await take_in(std::move(*peer));
    else goes_on = co_await recover(listener, peer.error());
  }
  serve_rest(listener);
  listener.close();
}

// False: there will be no more connections; so with the next ones.
task<bool> server_core::take_in(tcp::stream peer) {
  if (!spare_->is_there_beside(peer, refused_)) co_return true;
  const bool may_begin = co_await get_permit();
  if (may_begin) begin_one(std::move(peer));
  co_return may_begin;
}

// The connection gives it back.
task<bool> server_core::get_permit() {
  if (options_.max_connections == 0) co_return true;
  auto permit = co_await permits_.acquire();
  if (permit) permit->forget();
  co_return permit.has_value();
}

void server_core::begin_one(tcp::stream peer) noexcept try {
  // ORDER: relaxed, pairs with nothing: a number for people.
  accepted_.fetch_add(1, std::memory_order_relaxed);
  connection one = make_connection(std::move(peer));
  begin(std::move(one));
} catch (const std::exception&) {
  // ORDER: relaxed, pairs with nothing: as above.
  failed_.fetch_add(1, std::memory_order_relaxed);
}

// What waits in the system's queue would be reset when the listener is closed.
void server_core::serve_rest(tcp::listener& listener) noexcept {
  for (;;) {
    if (options_.max_connections != 0) {
      auto permit = permits_.try_acquire();
      if (!permit) return;
      permit.forget();
    }
    result<tcp::stream> peer = listener.try_accept();
    if (!peer) {
      if (options_.max_connections != 0) permits_.release();
      return;
    }
    begin_one(std::move(*peer));
  }
}

static bool is_gone(std::error_code error) noexcept {
  return error == std::errc::operation_canceled || error == std::errc::bad_file_descriptor;
}
static bool lacks_descriptors(std::error_code error) noexcept {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
}

// After an error of accept.
task<bool> server_core::recover(tcp::listener& listener, std::error_code error) {
  if (is_gone(error)) co_return false;
  notice_once_a_second(error);
  if (lacks_descriptors(error)) co_return co_await serve_or_refuse(listener);
  const waited slept = co_await sleep_for(100ms);
  co_return slept.has_value();
}

// Without descriptors accept fails, whether a connection waits or not. So one is waited for, and tried once more: it
// may have come after there were descriptors again. The wait fails if this worker has not waited before: its epoll
// takes descriptors, too.
task<bool> server_core::serve_or_refuse(tcp::listener& listener) {
  const result<void> ready = co_await listener.readable();
  if (!ready && is_gone(ready.error())) co_return false;
  result<tcp::stream> peer = listener.try_accept();
  if (peer) co_return co_await take_in(std::move(*peer));
  if (lacks_descriptors(peer.error()) && spare_->refuse_one(listener, refused_)) co_return true;
  const waited slept = co_await sleep_for(1ms);
  co_return slept.has_value();
}

void server_core::notice_once_a_second(std::error_code error) noexcept {
  const std::int64_t present = std::chrono::duration_cast<std::chrono::seconds>(time_here().time_since_epoch()).count();
  // ORDER: relaxed, pairs with nothing: of several acceptors one tells.
  std::int64_t last = noticed_.load(std::memory_order_relaxed);
  // ORDER: relaxed, as above. An acceptor that was delayed must not set the second back.
  if (present <= last || !noticed_.compare_exchange_strong(last, present, std::memory_order_relaxed)) return;
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), "a server at %.100s cannot accept connections: %.80s",
                address_.to_string().c_str(), error.message().c_str());
  notice(text.data());
}

// The permit is the connection's from here on.
server_core::connection server_core::make_connection(tcp::stream peer) try {
  return connection(*this, std::move(peer));
} catch (...) {
  if (options_.max_connections != 0) permits_.release();
  throw;
}

// --- a connection

server_core::connection::connection(server_core& of, tcp::stream one) : peer(std::move(one)), of_(&of) {
  descriptor_access::record_of(peer).belongs_to(of.family_);
  if (of.options_.on_error) address_ = std::make_unique<socket_address>(peer.peer_address());
  // ORDER: relaxed, pairs with nothing: the acceptor is joined before anybody waits for zero.
  of.live_.fetch_add(1, std::memory_order_relaxed);
}

server_core::connection::~connection() {
  if (!of_) return;
  peer.close();
  if (of_->options_.max_connections != 0) of_->permits_.release();
  // ORDER: release, pairs with the load in wait_until_empty(): what the connection did is visible.
  of_->live_.fetch_sub(1, std::memory_order_release);
  of_->ended_.set();
}

void server_core::connection::returned(std::error_code error) noexcept {
  if (error) tell(error, nullptr);
}

void server_core::connection::threw() {
  try {
    throw;
  } catch (const forced_unwind&) {
    throw;
  } catch (const cancelled&) {
  } catch (const std::system_error& error) {
    tell(error.code(), std::current_exception());
  } catch (...) {
    tell(std::make_error_code(std::errc::state_not_recoverable), std::current_exception());
  }
}

void server_core::connection::tell(std::error_code error, const std::exception_ptr& thrown) noexcept {
  // ORDER: relaxed, pairs with nothing: a number for people.
  of_->failed_.fetch_add(1, std::memory_order_relaxed);
  if (of_->options_.on_error) of_->options_.on_error(*address_, error, thrown);
}

// --- the end

task<bool> server_core::wait_until_empty(duration at_most) {
  const time_point until = deadline_after(time_here(), at_most);
  for (;;) {
    // ORDER: acquire, pairs with the fetch_sub in ~connection().
    if (live_.load(std::memory_order_acquire) == 0) co_return true;
    const auto one = co_await within(until, ended_.wait());
    // ORDER: acquire, pairs with the fetch_sub in ~connection().
    if (!one) co_return live_.load(std::memory_order_acquire) == 0;
  }
}

task<shutdown_report> server_core::shutdown(shutdown_options options) {
  shutdown_report told;
  for (join_handle<>& one : acceptors_) one.cancel();
  for (join_handle<>& one : acceptors_) static_cast<void>(co_await one.join().ignoring(stop_level::kill));
  spare_.reset();
  descriptor_table::end_when_idle(family_);
  const std::size_t first = connections();
  const bool drained = co_await wait_until_empty(options.drain);
  const std::size_t second = connections();
  told.drained = first - second;
  if (!drained) {
    connections_.cancel();
    const bool cancelled_all = co_await wait_until_empty(options.cancel);
    const std::size_t third = connections();
    told.cancelled = second - third;
    if (!cancelled_all) {
      connections_.kill();
      static_cast<void>(co_await wait_until_empty(options.kill));
      told.remaining = connections();
      told.killed = third - told.remaining;
    }
  }
  over_ = true;
  co_return told;
}

task<shutdown_report> server_core::await_signal(signal_set& asked, shutdown_options options) {
  const result<int> heard = co_await asked.next();
  if (!heard && heard.error() != std::errc::operation_canceled) throw std::system_error(heard.error());
  co_return co_await shutdown(options);
}

// By a plain thread: until it has ended.
template <class T>
T server_core::run_here(join_handle<T> handle) {
  expects(current_executor() == nullptr, "a server was ended by a coroutine that would block its thread",
          "await shutdown(), before the server is destroyed", options_.connection.name.c_str());
  if (loop_) loop_->run_until(handle);
  return sync_wait(handle);
}

shutdown_report server_core::run_until(std::initializer_list<int> signals, const shutdown_options& options) {
  signal_set asked(signals);
  return run_here(runtime_ ? spawn(*runtime_, &server_core::await_signal, this, std::ref(asked), options)
                           : spawn(*loop_, &server_core::await_signal, this, std::ref(asked), options));
}

void server_core::kill_and_join() noexcept {
  if (over_) return;
  const shutdown_options at_once{.drain = 0s, .cancel = 0s, .kill = 24h};
  static_cast<void>(run_here(runtime_ ? spawn(*runtime_, &server_core::shutdown, this, at_once)
                                      : spawn(*loop_, &server_core::shutdown, this, at_once)));
}

}  // namespace detail

namespace tcp {

server::server(std::unique_ptr<detail::server_core> core) noexcept : core_(std::move(core)) {}
server::server(server&&) noexcept = default;
server& server::operator=(server&& other) noexcept {
  server gone(std::move(*this));
  core_ = std::move(other.core_);
  return *this;
}
server::~server() {
  if (core_) core_->kill_and_join();
}

const socket_address& server::local_address() const noexcept { return core_->local_address(); }
std::size_t server::connections() const noexcept { return core_->connections(); }
server_counts server::counts() const noexcept { return core_->counts(); }
task<shutdown_report> server::shutdown(shutdown_options options) { return core_->shutdown(options); }
shutdown_report server::run_until(std::initializer_list<int> signals, const shutdown_options& options) {
  return core_->run_until(signals, options);
}

}  // namespace tcp

}}  // namespace hocket
