#include "coro/queued_start.hpp"

#include <hocket/core/wait/seam/budget.hpp>
#include <hocket/coro/detail/task_promise.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

std::coroutine_handle<> begin_task(void* task) noexcept {
  auto& header = *static_cast<coroutine_header*>(task);
  header.reserved &= ~task_bit::start_queued;
  this_thread().ctx = header.ctx;
  return std::coroutine_handle<coroutine_header>::from_promise(header);
}

}  // namespace

bool queue_start(std::coroutine_handle<> task) noexcept {
  coroutine_header& header = header_of(task);
  header.reserved |= task_bit::start_queued;
  if (pause_task(&header, &begin_task)) return true;
  header.reserved &= ~task_bit::start_queued;
  return false;
}

}}}  // namespace hocket::detail
