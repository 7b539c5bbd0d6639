// The part of a runtime that its workers know: how they find work (pool_core.hpp), its options, and its end.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/runtime/detail/runtime_options.hpp>

#include "runtime/pool_core.hpp"
#include "runtime/standstill.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct worker_pool : pool_core {
  // Throws bad_alloc.
  worker_pool(executor& executor_of_runtime, spawn_target& target_of_runtime, const runtime_options& options,
              std::size_t workers)
      : pool_core(workers),
        home(executor_of_runtime),
        target(target_of_runtime),
        name(options.name.c_str()),
        time(options.clock ? *options.clock : steady_clock()),
        on_start(options.on_start),
        on_stop(options.on_stop) {}

  bool is_copy_in_child() const noexcept { return forks != forks_so_far(); }
  void expect_threads() const noexcept {
    expects(!is_copy_in_child(), "a runtime was used in a child of the process that made it",
            "fork() takes no threads along: fork before the runtime is made, or exec in the child", name);
  }

  executor& home;
  spawn_target& target;
  const std::uint32_t forks = forks_so_far();  // of the process, at construction
  const char* const name;
  const clock_source& time;
  const worker_hook on_start, on_stop;

  alignas(cache_line_size) standstill still;
  atomic<bool> ended{false};  // all coroutines have ended; the threads end
};

}}}  // namespace hocket::detail
