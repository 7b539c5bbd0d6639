// The currency of the library: a suspended coroutine together with the place where it may run.
//
// A bare std::coroutine_handle<> cannot say where it must be resumed; a runnable can. It is embedded in whatever
// suspends (an awaiter, a promise, a control block), so that putting a coroutine into a run queue never allocates.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <coroutine>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

class executor;

namespace detail {

// One entry of a run queue. It is owned by the suspended coroutine; while it is in a queue nobody else may touch it.
struct runnable {
  runnable* next = nullptr;          // the queue's link; meaningless outside a queue
  std::coroutine_handle<> handle{};  // whom to resume; null for a waiting thread
  executor* home = nullptr;          // where; null in a promise means "where the awaited coroutine runs"
};

// Several, which somebody else keeps.
struct runnables {
  runnable* const* first;
  std::size_t count;

  std::size_t size() const noexcept { return count; }
  runnable& operator[](std::size_t i) const noexcept { return *first[i]; }
};

// A stack of them, linked by `next`, the last one first: turned round. Null of null.
inline runnable* reversed(runnable* newest) noexcept {
  runnable* first = nullptr;
  while (newest) {
    runnable* next = newest->next;
    newest->next = first;
    first = newest;
    newest = next;
  }
  return first;
}

}  // namespace detail

}}  // namespace hocket
