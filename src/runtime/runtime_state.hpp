// The state of a runtime: its workers, the admission of coroutines, and the threads that inspect the workers.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/core/stop.hpp>

#include "runtime/admission.hpp"
#include "runtime/runtime_metrics.hpp"
#include "runtime/signal_dump.hpp"
#include "runtime/stall_detector.hpp"
#include "runtime/worker_watch.hpp"

#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct runtime_state : admission {
  runtime_state(executor& home_of_runtime, spawn_target& target_of_runtime, const runtime_options& options,
                std::size_t count)
      : admission(home_of_runtime, target_of_runtime, options, count),
        unhandled(options.on_unhandled ? options.on_unhandled : &abort_on_unhandled),
        ctx(context::child_of(context::root(), {.name = options.name, .stop = &stop}, {})) {}

  const unhandled_handler unhandled;
  stop_source stop;
  context_ptr ctx;
  daemon_slot daemon_group;
  std::optional<worker_watch> watched;  // a single worker has none
  std::optional<stall_detector> stalls;
  std::optional<signal_dump> dumps;
  std::optional<runtime_metrics> metrics;  // while the workers exist
};

}}}  // namespace hocket::detail
