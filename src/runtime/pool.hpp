// What the workers of a runtime share.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "runtime/idle_workers.hpp"
#include "runtime/injection.hpp"
#include "runtime/worker.hpp"

#include <memory>
#include <vector>

namespace hocket::inline HOCKET_ABI {

struct runtime::state {
  state(runtime& owner, const runtime_options& options, std::size_t workers);

  // Workers, in turn.
  worker& at(std::size_t index) noexcept { return *workers[index % workers.size()]; }

  void wake_one() noexcept;
  [[nodiscard]] bool has_work() const noexcept;
  std::size_t live() const noexcept;

  runtime& self;
  const char* const name;
  const clock& time;
  const unhandled_handler unhandled;
  stop_source stop;
  context_ptr ctx;
  injection injected;
  idle_workers idle;
  std::vector<std::unique_ptr<worker>> workers;
  std::vector<std::uint32_t> seen_turns;  // of each worker, by the sleeper that watches

  atomic<std::uint32_t> posting{0};  // calls of post() under way
  atomic<bool> closing{false};       // spawns are refused
  atomic<bool> ended{false};         // nothing is left; the threads end
  atomic<std::uint32_t> ends{0};     // while it closes: changes with each coroutine that ends
  atomic<std::size_t> entered{0};    // by other threads than the workers
  atomic<std::size_t> left{0};
};

}  // namespace hocket::inline HOCKET_ABI
