#include "runtime/worker_list.hpp"

#include <hocket/base/seam/asleep.hpp>

#include <thread>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

worker_list::worker_list(executor& home_of_runtime, spawn_target& target_of_runtime, const runtime_options& options,
                         std::size_t count)
    : worker_pool(home_of_runtime, target_of_runtime, options, count) {
  workers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) workers.push_back(std::make_unique<worker>(*this, i));
}

bool worker_list::is_inside() const noexcept { return present_worker() || this_thread().serves == &home; }

// A worker that waits to become the requester halts for the present requester. It is inside the coroutine that dumps,
// which runs no code of its own meanwhile: the present requester can read its state.
std::uint32_t worker_list::bring_to_a_standstill() noexcept {
  worker* const requester = present_worker();
  std::uint32_t phase = requester ? still.try_begin() : still.begin();
  while (phase == 0) {
    requester->halt();
    halt_if_asked();
    std::this_thread::yield();  // the watch may prevent it, for a moment
    phase = still.try_begin();
  }
  for (auto& owner : workers) owner->nudge();
  return phase;
}

bool worker_list::wait_stopped(std::size_t index, std::uint32_t phase, time_point until) noexcept {
  const worker& owner = at(index);
  return &owner == present_worker() || standstill::wait_stopped(owner.stopped_phase(), phase, until);
}

}}}  // namespace hocket::detail
