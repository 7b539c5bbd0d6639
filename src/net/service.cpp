#include <hocket/base/clock.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/service.hpp>
#include <hocket/runtime/blocking_pool.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

// Returns 0 if it is cancelled.
task<int> next_signal(signal_set& signals) {
  const result<int> received = co_await signals.next();
  if (!received && received.error() != std::errc::operation_canceled) throw std::system_error(received.error());
  co_return received ? *received : 0;
}

bool has_stopped_by_force(const shutdown_report& report) noexcept {
  return report.killed + report.remaining + report.daemons.killed + report.daemons.remaining != 0;
}

const char* word_for(shutdown_step step) noexcept {
  switch (step) {
    case shutdown_step::cancel: return "cancelled";
    case shutdown_step::kill: return "killed";
    case shutdown_step::none: break;
  }
  return "left";
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

void append_counts(std::string& text, std::size_t cancelled, std::size_t killed, std::size_t remaining) {
  text += std::to_string(cancelled) + " cancelled, " + std::to_string(killed) + " killed, " +
          std::to_string(remaining) + " left";
}

}  // namespace

// --- the report

int service_report::exit_code() const noexcept {
  const bool failed = std::any_of(parts.begin(), parts.end(), [](const part& each) noexcept {
    return each.error || has_stopped_by_force(each.report);
  });
  return failed ? 1 : 0;
}

std::string service_report::to_string() const {
  std::string text = signal == 0 ? "ended\n" : "ended by signal " + std::to_string(signal) + "\n";
  for (const part& each : parts) {
    const shutdown_report::daemon_ends& daemons = each.report.daemons;
    text += each.name + ": " + std::to_string(each.report.drained) + " drained, ";
    append_counts(text, each.report.cancelled, each.report.killed, each.report.remaining);
    if (daemons.cancelled + daemons.killed + daemons.remaining != 0) {
      text += "; daemons: ";
      append_counts(text, daemons.cancelled, daemons.killed, daemons.remaining);
    }
    if (each.error) text += "; failed: " + text_of(each.error);
    text += "\n";
  }
  for (const stopped_coroutine& each : stopped.coroutines) {
    if (each.is_daemon && each.step == shutdown_step::cancel) continue;
    text += std::string(word_for(each.step)) + ": \"" + each.name + "\"" + (each.is_daemon ? ", a daemon" : "");
    if (!each.spawned.empty()) text += ", spawned at " + each.spawned;
    text += "\n";
  }
  return text;
}

// --- the service

struct service::state {
  struct added_pool {
    literal_name name;
    blocking_pool* threads;
  };

  runtime& rt;
  std::vector<std::unique_ptr<added_part>> parts;
  std::vector<added_pool> pools;
  thread_mutex mutex;
  bool is_ended = false;             // guarded by the mutex
  join_handle<int>* wait = nullptr;  // the wait of run_until(); guarded by the mutex
};

service::service(runtime& rt) : state_(new state{rt, {}, {}, {}, false, nullptr}) {}
service::~service() = default;

void service::add_part(std::unique_ptr<added_part> part) { state_->parts.push_back(std::move(part)); }
void service::add(blocking_pool& threads, literal_name name) { state_->pools.push_back({name, &threads}); }

void service::end() noexcept {
  const locked guard(state_->mutex);
  state_->is_ended = true;
  if (state_->wait) state_->wait->cancel();
}

int service::wait_for(signal_set& signals) {
  join_handle<int> handle = spawn(state_->rt, {.name = "signals"}, next_signal, std::ref(signals));
  {
    const locked guard(state_->mutex);
    state_->wait = &handle;
    if (state_->is_ended) handle.cancel();
  }
  const result<int> received = sync_wait(handle.join());
  const locked guard(state_->mutex);
  state_->wait = nullptr;
  return received ? *received : 0;
}

// Runs the end of the part in a coroutine of the runtime, and waits for it.
void service::end_part(added_part& part, const shutdown_options& options, service_report& report) {
  service_report::part part_report{part.name.c_str()};
  try {
    auto handle = spawn(state_->rt, {.name = "end of a part"}, &added_part::run, &part, options);
    const result<shutdown_report> joined = sync_wait(handle.join());
    if (joined) part_report.report = *joined;
    else throw std::system_error(joined.error());
  } catch (...) {
    part_report.error = std::current_exception();
  }
  report.parts.push_back(std::move(part_report));
}

service_report service::run_until(std::initializer_list<int> signals, const shutdown_options& options) {
  signal_set set(signals);
  return run_until(set, options);
}

service_report service::run_until(signal_set& signals, const shutdown_options& options) {
  expects(current_executor() == nullptr, "a service was run by a coroutine", "run it on a plain thread: in main()");
  service_report report;
  report.parts.reserve(state_->parts.size() + 1 + state_->pools.size());
  report.signal = wait_for(signals);

  const time_point end_of_drain = deadline_after(steady_clock().now(), options.drain);
  const auto remaining_options = [&]() noexcept {
    shutdown_options remaining = options;
    if (options.drain != duration::max())
      remaining.drain = std::max(duration::zero(), end_of_drain - steady_clock().now());
    remaining.stopped = &report.stopped;
    return remaining;
  };
  for (const std::unique_ptr<added_part>& each : state_->parts) end_part(*each, remaining_options(), report);
  report.parts.push_back({"runtime", state_->rt.shutdown(remaining_options())});
  for (const state::added_pool& each : state_->pools) {
    const blocking_pool::counts counts = each.threads->statistics();
    report.parts.push_back({each.name.c_str(), {.remaining = counts.threads - counts.idle + counts.queued}});
  }
  return report;
}

}}  // namespace hocket
