// A runnable: a suspended coroutine together with its executor. All queues of the library hold runnables.
//
// A bare std::coroutine_handle<> does not know where it must be resumed; a runnable does. It is embedded in the object
// that suspends (an awaiter, a promise, a control block), so a push to a run queue never allocates.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <coroutine>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

class executor;

namespace detail {

// One entry of a run queue. The suspended coroutine owns it. While it is in a queue no other code may touch it.
struct runnable {
  runnable* next = nullptr;          // the link of the queue; undefined outside a queue
  std::coroutine_handle<> handle{};  // the coroutine to resume; null for a waiting thread
  executor* home = nullptr;          // its executor; null in a promise: the executor of the awaited coroutine
};

// An array of runnables, which the caller owns.
struct runnables {
  runnable* const* first;
  std::size_t count;

  std::size_t size() const noexcept { return count; }
  runnable& operator[](std::size_t i) const noexcept { return *first[i]; }
};

// Reverses a list that is linked by `next`. Null gives null.
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
