#include <hocket/base/seam/per_process.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/runtime/blocking_pool.hpp>

#include "runtime/runtime_metrics.hpp"

#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

namespace figures {

constexpr auto counter = metric_kind::counter;
constexpr auto gauge = metric_kind::gauge;

// --- of a runtime
constexpr metric workers{"hocket_runtime_workers", "Worker threads.", gauge};
constexpr metric coroutines{"hocket_runtime_coroutines", "Spawned coroutines that have not ended.", gauge};
constexpr metric ready{"hocket_runtime_ready", "Ready coroutines that other workers may steal, about.", gauge};
constexpr metric frames{"hocket_runtime_frame_bytes", "Free frames of tasks that the workers keep.", gauge};
constexpr metric timer_lag{"hocket_runtime_max_timer_lag_seconds", "The greatest delay of a timer so far.",
                           metric_kind::maximum};

struct counted_field {
  metric description;
  std::size_t runtime_counts::* field;
};
constexpr counted_field counted_fields[] = {
    {{"hocket_runtime_turns_total", "Turns of the workers.", counter}, &runtime_counts::turns},
    {{"hocket_runtime_resumed_total", "Coroutines that were resumed.", counter}, &runtime_counts::resumed},
    {{"hocket_runtime_injected_total", "Coroutines that the runtime's own queue has given.", counter},
     &runtime_counts::injected},
    {{"hocket_runtime_stolen_total", "Coroutines that were stolen from another worker.", counter},
     &runtime_counts::stolen},
    {{"hocket_runtime_sleeps_total", "Sleeps of the workers.", counter}, &runtime_counts::sleeps},
    {{"hocket_runtime_wakeups_total", "Sleeps that another thread ended.", counter}, &runtime_counts::wakeups},
    {{"hocket_runtime_assists_total", "Times that the watch served a worker that seemed stuck.", counter},
     &runtime_counts::assists},
    {{"hocket_runtime_timers_total", "Timers that fired.", counter}, &runtime_counts::timers},
};

// --- of the process
constexpr metric pool_threads{"hocket_blocking_threads", "Threads of the process's blocking pool.", gauge};
constexpr metric pool_idle{"hocket_blocking_idle_threads", "Threads of this pool without a call.", gauge};
constexpr metric pool_queued{"hocket_blocking_queued", "Calls that wait for a thread.", gauge};
constexpr metric pool_calls{"hocket_blocking_calls_total", "Calls that have begun.", counter};
constexpr metric pool_refused{"hocket_blocking_refused_total", "Calls that were refused.", counter};
constexpr metric shared_frames{"hocket_frame_depot_bytes", "Free frames that all threads share.", gauge};

}  // namespace figures

struct process_metrics {
  void report_metrics(metric_visitor& to) const {
    to.add_count(figures::shared_frames, {}, frame_memory_usage().shared);
    const blocking_pool* const pool = blocking_pool::process_pool_if_any();
    if (!pool) return;
    const blocking_pool::counts counts = pool->statistics();
    to.add_count(figures::pool_threads, {}, counts.threads);
    to.add_count(figures::pool_idle, {}, counts.idle);
    to.add_count(figures::pool_queued, {}, counts.queued);
    to.add_count(figures::pool_calls, {}, counts.begun);
    to.add_count(figures::pool_refused, {}, counts.refused);
  }

  metric_source source{*this};
};

constinit per_process<process_metrics> metrics_of_process;

}  // namespace

runtime_metrics::runtime_metrics(const void* subject, reader read, const char* name) noexcept
    : subject_(subject), read_(read), name_(name ? name : ""), source_(*this) {}

void runtime_metrics::report_metrics(metric_visitor& to) const {
  const metric_label label{"runtime", name_};
  const runtime_numbers numbers = read_(subject_);
  const runtime_counts& counts = numbers.counts;
  to.add_count(figures::workers, {label}, numbers.workers);
  to.add_count(figures::coroutines, {label}, numbers.coroutines);
  to.add_count(figures::ready, {label}, counts.ready);
  to.add_count(figures::frames, {label}, counts.frames);
  to.add(figures::timer_lag, {label}, std::chrono::duration<double>(counts.max_timer_lag).count());
  for (const figures::counted_field& current : figures::counted_fields)
    to.add_count(current.description, {label}, counts.*current.field);
}

void list_process_metrics() noexcept { static_cast<void>(metrics_of_process.get()); }

}}}  // namespace hocket::detail
