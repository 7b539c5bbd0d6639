// The end of a server, in order.
#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/io/seam/descriptor_table.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/seam/coroutine_snapshot.hpp>
#include <hocket/time/within.hpp>

#include "net/lingerer.hpp"
#include "net/spare_fd.hpp"

#include <thread>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using namespace std::chrono_literals;

task<bool> server_core::wait_until_empty(duration at_most) {
  const time_point until = deadline_after(time_here(), at_most);
  while (connections() != 0) {
    const result<void> ended = co_await within(until, count_.wait());
    if (!ended) co_return connections() == 0;
  }
  co_return true;
}

// Each handle is joined once, also if a join throws bad_alloc and graceful_shutdown() is called again.
task<> server_core::join_acceptors() {
  for (join_handle<>& acceptor : acceptors_) acceptor.cancel();
  for (; !acceptors_.empty(); acceptors_.pop_back())
    static_cast<void>(co_await acceptors_.back().join().ignoring(stop_level::kill));
}

void server_core::stop_jobs() noexcept {
  for (std::size_t i = 0; lists_ && i != listeners_.size(); ++i) lists_[i].notify_jobs(job_reason::stopped);
}

void server_core::stop_reapers() noexcept {
  for (std::size_t i = 0; i != reapers_.size(); ++i) lists_[i].close();
}

task<> server_core::join_lingerer() {
  stop_reapers();
  for (; !reapers_.empty(); reapers_.pop_back())
    static_cast<void>(co_await reapers_.back().join().ignoring(stop_level::kill));
  if (!lingering_) co_return;
  lingerer_->end();
  static_cast<void>(co_await lingering_.join().ignoring(stop_level::kill));
  lingering_ = {};
}

// Of the connections, and of what their scopes have. A loop's can be read on its thread alone.
coroutine_snapshot server_core::snapshot(const shutdown_options& options) noexcept {
  const context* const below = &connections_.parent_context();
  if (!options.stopped) return {};
  if (runtime_) return {*runtime_, below};
  return current_executor() == loop_ ? coroutine_snapshot(*loop_, below) : coroutine_snapshot();
}

task<shutdown_report> server_core::graceful_shutdown(shutdown_options options) {
  shutdown_report report;
  co_await join_acceptors();
  spare_.reset();
  const std::size_t first = connections();
  if (lingerer_) descriptor_table::end_when_idle(lingerer_->number());
  const bool drained = co_await wait_until_empty(options.drain);
  const std::size_t second = connections();
  report.drained = first - second;
  if (!drained) {
    const coroutine_snapshot before_cancel = snapshot(options);
    lingerer_->end();
    connections_.cancel();
    stop_jobs();
    const bool cancelled_all = co_await wait_until_empty(options.cancel);
    const coroutine_snapshot before_kill = snapshot(options);
    if (options.stopped) before_cancel.add_ended(before_kill, shutdown_step::cancel, *options.stopped);
    const std::size_t third = connections();
    report.cancelled = second - third;
    if (!cancelled_all) {
      connections_.kill();
      stop_jobs();
      static_cast<void>(co_await wait_until_empty(options.kill));
      const coroutine_snapshot remaining = snapshot(options);
      if (options.stopped) before_kill.add_ended(remaining, shutdown_step::kill, *options.stopped);
      if (options.stopped) remaining.add_remaining(*options.stopped);
      report.remaining = connections();
      report.killed = third - report.remaining;
    }
  }
  co_await join_lingerer();
  is_shut_down_ = true;
  co_return report;
}

task<shutdown_report> server_core::await_signal(signal_set& signals_received, shutdown_options options) {
  const result<int> received = co_await signals_received.next();
  if (!received && received.error() != std::errc::operation_canceled) throw std::system_error(received.error());
  co_return co_await graceful_shutdown(options);
}

// By a plain thread: until it has ended.
template <class T>
result<T> server_core::join_here(join_handle<T>& handle) {
  while (loop_ && !handle.done()) loop_->run_until(handle);
  return sync_wait(handle.join());
}

// The same, of all connections, and of what their handlers have spawned.
void server_core::join_connections_here() noexcept {
  while (loop_ && connections_.size() != 0) loop_->run_for(10ms);
  static_cast<void>(sync_wait(connections_.join()));
}

shutdown_report server_core::run_until(signal_set& signals, const shutdown_options& options) {
  auto ended = runtime_ ? spawn(*runtime_, &server_core::await_signal, this, std::ref(signals), options)
                        : spawn(*loop_, &server_core::await_signal, this, std::ref(signals), options);
  while (loop_ && !ended.done()) loop_->run_until(ended);
  return sync_wait(ended);
}

bool server_core::is_running() const noexcept {
  return !acceptors_.empty() || !reapers_.empty() || lingering_ || connections_.size() != 0;
}

// After a shutdown no connection is counted, but the last ones may be about to leave the scope, on other threads. (On a
// loop they leave on this thread.) The limit is for a machine that has stopped their threads.
void server_core::wait_for_leaving() const noexcept {
  if (loop_ || !is_shut_down_ || connections() != 0) return;
  const time_point until = steady_clock().now() + 10s;
  while (is_running() && steady_clock().now() < until) std::this_thread::yield();
}

// What handlers have spawned may outlast a shutdown.
void server_core::kill_and_join() noexcept {
  if (current_executor() != nullptr) wait_for_leaving();
  if (!is_running()) return;
  expects(current_executor() == nullptr, "a server was ended by a coroutine that would block its thread",
          "await graceful_shutdown(), and what handlers have spawned, before the server is destroyed",
          options_.connection.name.c_str());
  for (join_handle<>& acceptor : acceptors_) acceptor.cancel();
  if (!is_shut_down_) stop_reapers();
  if (!is_shut_down_) lingerer_->end();
  connections_.kill();
  if (!is_shut_down_) stop_jobs();
  for (join_handle<>& acceptor : acceptors_) static_cast<void>(join_here(acceptor));
  acceptors_.clear();
  spare_.reset();
  for (join_handle<>& reaper : reapers_) static_cast<void>(join_here(reaper));
  reapers_.clear();
  if (lingering_) static_cast<void>(join_here(lingering_));
  lingering_ = {};
  join_connections_here();
}

}}}  // namespace hocket::detail
