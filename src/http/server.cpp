#include <hocket/http/server.hpp>

#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/runtime/seam/coroutine_snapshot.hpp>

#include "http/connection_job.hpp"
#include "http/site.hpp"
#include "http/site_metrics.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

static request_counts read_counts(const void* subject) noexcept { return static_cast<const site*>(subject)->counts(); }

// A tcp::server for each address, and what their connections share. The site is destroyed after the connections.
class server_state : public hocket::detail::from_memory_source {
 public:
  server_state(runtime* on, loop* instead, const serve_options& options, std::unique_ptr<const route_table> routes,
               trusted_proxies proxies)
      : runtime_(on), loop_(instead), site_(options, std::move(routes), std::move(proxies)) {}

  std::error_code open(serve_target target);
  task<shutdown_report> graceful_shutdown(shutdown_options options);
  shutdown_report run_until(signal_set& signals, const shutdown_options& options);

  const http::detail::site& shared() const noexcept { return site_; }
  std::vector<tcp::server>& parts() noexcept { return parts_; }

 private:
  // After the signal: `await_signal` is a task of the executor.
  task<shutdown_report> await_signal(signal_set& signals, shutdown_options options);
  std::error_code open_one(hocket::detail::listen_target target);
  tcp::serve_options options_of_part() const noexcept;

  runtime* const runtime_;
  loop* const loop_;  // if there is no runtime
  http::detail::site site_;
  site_metrics metrics_{&site_, &read_counts, site_.options.name.c_str()};
  std::vector<tcp::server> parts_;  // the last member: its end waits for the connections
};

static constexpr std::string_view overload_reply =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n";

tcp::serve_options server_state::options_of_part() const noexcept {
  const serve_options& options = site_.options;
  return {.listen = options.listen,
          .max_connections = options.max_connections,
          .max_idle = options.limits.idle,
          .overload_reply = options.reply_when_full ? overload_reply : std::string_view(),
          .connection = options.connection,
          .on_error = options.on_error,
          .name = options.name};
}

std::error_code server_state::open_one(hocket::detail::listen_target target) {
  auto part = runtime_ ? std::make_unique<server_part>(*runtime_, options_of_part(), site_)
                       : std::make_unique<server_part>(*loop_, options_of_part(), site_);
  server_part& opened = *part;
  tcp::server owner(std::move(part));  // if open() throws, its destructor ends the acceptors
  if (const std::error_code error = opened.open(std::move(target))) return error;
  parts_.push_back(std::move(owner));
  return {};
}

std::error_code server_state::open(serve_target target) {
  if (target.addresses.empty() && target.listeners.empty()) return std::make_error_code(std::errc::invalid_argument);
  parts_.reserve(target.addresses.size() + 1);
  for (const socket_address& address : target.addresses)
    if (const std::error_code error = open_one(address)) return error;
  if (!target.listeners.empty()) return open_one(std::move(target.listeners));
  return {};
}

static void add(shutdown_report& sum, const shutdown_report& part) noexcept {
  sum.drained += part.drained;
  sum.cancelled += part.cancelled;
  sum.killed += part.killed;
  sum.remaining += part.remaining;
  sum.daemons.cancelled += part.daemons.cancelled;
  sum.daemons.killed += part.daemons.killed;
  sum.daemons.remaining += part.daemons.remaining;
}

// All parts at the same time, so that each has the whole time. Each writes to a list of its own, because they may run
// on several workers.
task<shutdown_report> server_state::graceful_shutdown(shutdown_options options) {
  site_.draining.set();
  std::vector<shutdown_list> lists(parts_.size());
  std::vector<task<shutdown_report>> ends;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    shutdown_options own = options;
    if (own.stopped) own.stopped = &lists[i];
    ends.push_back(parts_[i].graceful_shutdown(own));
  }
  const std::vector<shutdown_report> reports = co_await when_all(std::move(ends));
  shutdown_report sum;
  for (const shutdown_report& report : reports) add(sum, report);
  if (!options.stopped) co_return sum;
  for (shutdown_list& list : lists)
    for (stopped_coroutine& stopped : list.coroutines) options.stopped->coroutines.push_back(std::move(stopped));
  co_return sum;
}

task<shutdown_report> server_state::await_signal(signal_set& signals, shutdown_options options) {
  const result<int> received = co_await signals.next();
  if (!received && received.error() != std::errc::operation_canceled) throw std::system_error(received.error());
  co_return co_await graceful_shutdown(options);
}

shutdown_report server_state::run_until(signal_set& signals, const shutdown_options& options) {
  auto ended = runtime_ ? spawn(*runtime_, &server_state::await_signal, this, std::ref(signals), options)
                        : spawn(*loop_, &server_state::await_signal, this, std::ref(signals), options);
  while (loop_ && !ended.done()) loop_->run_until(ended);
  return sync_wait(ended);
}

static result<server> start(runtime* on, loop* instead, serve_target target, const serve_options& options,
                            router routes) {
  result<trusted_proxies> proxies = trusted_proxies::parse(options.trusted_proxies);
  if (!proxies) return failure(proxies.error());
  auto state = std::make_unique<server_state>(on, instead, options, router_access::freeze(std::move(routes)),
                                              std::move(*proxies));
  server_state& opened = *state;
  server owner(std::move(state));  // if opening throws, or fails, its destructor closes what is open
  if (const std::error_code error = opened.open(std::move(target))) return failure(error);
  return owner;
}

}  // namespace detail

server::server(std::unique_ptr<detail::server_state> state) noexcept : state_(std::move(state)) {}
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;
server::~server() = default;

const socket_address& server::local_address() const noexcept { return state_->parts().front().local_address(); }

std::vector<socket_address> server::local_addresses() const {
  std::vector<socket_address> all;
  for (const tcp::server& part : state_->parts()) all.push_back(part.local_address());
  return all;
}

std::size_t server::connections() const noexcept {
  std::size_t sum = 0;
  for (const tcp::server& part : state_->parts()) sum += part.connections();
  return sum;
}

tcp::server_counts server::counts() const noexcept {
  tcp::server_counts sum;
  for (const tcp::server& part : state_->parts()) {
    const tcp::server_counts counts = part.counts();
    sum.accepted += counts.accepted;
    sum.completed += counts.completed;
    sum.failed += counts.failed;
    sum.cancelled += counts.cancelled;
    sum.refused += counts.refused;
  }
  return sum;
}

request_counts server::requests() const noexcept { return state_->shared().counts(); }

void server::set_max_connections(std::size_t limit) noexcept {
  for (tcp::server& part : state_->parts()) part.set_max_connections(limit);
}

task<shutdown_report> server::graceful_shutdown(shutdown_options options) { return state_->graceful_shutdown(options); }
shutdown_report server::run_until(std::initializer_list<int> signals, const shutdown_options& options) {
  signal_set received(signals);
  return run_until(received, options);
}
shutdown_report server::run_until(signal_set& signals, const shutdown_options& options) {
  return state_->run_until(signals, options);
}

result<server> serve(runtime& executor, serve_target target, const serve_options& options, router routes) {
  return detail::start(&executor, nullptr, std::move(target), options, std::move(routes));
}
result<server> serve(loop& executor, serve_target target, const serve_options& options, router routes) {
  return detail::start(nullptr, &executor, std::move(target), options, std::move(routes));
}

}}}  // namespace hocket::http
