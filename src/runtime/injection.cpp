#include "runtime/injection.hpp"

#include <utility>

namespace hocket::inline HOCKET_ABI {

void injection::post(runnable& first, runnable& last) noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange below verifies it, and the list is not followed here.
  runnable* seen = top_.load(std::memory_order_relaxed);
  do last.next = seen;
  // ORDER: release, pairs with the exchange in take(): the runnable and all that led to its wake-up are visible.
  while (!top_.compare_exchange_weak(seen, &first, std::memory_order_release, std::memory_order_relaxed));
}

runnable* injection::take() noexcept {
  if (empty()) return nullptr;
  // ORDER: acquire, pairs with the compare-exchange in post().
  runnable* last = top_.exchange(nullptr, std::memory_order_acquire);
  runnable* first = nullptr;
  while (last) {
    runnable* next = std::exchange(last->next, first);
    first = std::exchange(last, next);
  }
  return first;
}

}  // namespace hocket::inline HOCKET_ABI
