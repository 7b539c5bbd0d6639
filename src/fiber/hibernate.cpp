#include <hocket/fiber/hibernate.hpp>

#include "fiber/idle_fibers.hpp"

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

hibernation_statistics hibernation_usage() noexcept {
  fiber_thread* thread = fiber_thread::current_if_any();
  return thread ? thread->hibernation : hibernation_statistics{};
}

std::size_t hibernate_parked() noexcept {
  fiber_thread* thread = fiber_thread::current_if_any();
  return thread && thread->idle ? thread->idle->pack_waiting() : 0;
}

bool hibernate(any_coroutine& coroutine) noexcept {
  detail::packing_batch batch;
  return coroutine.pack(batch);
}

}}  // namespace hocket
