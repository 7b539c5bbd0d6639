// A worker of a runtime as a spawn target: a coroutine that is spawned there begins on that worker.
//
//   detail::worker_at third(rt, 2);
//   spawn(third, {.name = "listener"}, accept_connections, std::ref(door));
//
// It is an ordinary coroutine of the runtime, but its first turn is posted to the worker's inbox, from which no other
// worker steals. So a socket that it opens before its first wait belongs to that worker's driver. Afterwards a task
// migrates like others; a fiber stays, unless it is migratable. If a migratable fiber has to wait for its stack, it may
// begin on another worker.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Posts the first turn to the worker. The runtime counts the coroutine.
class worker_place : public direct_place {
 public:
  worker_place(executor& first, runtime& on, const spawn_options& options) : direct_place(on, options), first_(first) {}
  [[HOCKET_ALWAYS_INLINE]] void accept(scheduled& coroutine, std::coroutine_handle<> start) noexcept {
    coroutine.launch_at(first_, start);
  }

 private:
  executor& first_;
};

class worker_at {
 public:
  // `index` is less than on.workers().
  worker_at(runtime& on, std::size_t index) noexcept;

  using placed_with = spawn_options;
  executor& home() const noexcept { return first_; }
  worker_place place(const spawn_options& options) const { return {first_, on_, options}; }

 private:
  runtime& on_;
  executor& first_;
};

}}}  // namespace hocket::detail
