// The places where a thread of hocket sleeps, as one seam: for code that stops all threads (ext/gc). It need not wait
// for a thread that sleeps, if that one is held back when it wakes up. Not in it: calls that block on a thread of a
// blocking_pool (files).
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <memory>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Calls sleep(with), once, on the thread that asks.
using sleep_wrapper = void (*)(void (*sleep)(void* with), void* with) noexcept;

// Set once, and null until then.
extern atomic<sleep_wrapper> wraps_sleep;

// sleep() blocks the thread. It touches nothing of a coroutine's.
template <class Sleep>
void asleep(Sleep&& sleep) noexcept {
  // ORDER: acquire, pairs with the store in watch_sleep() (ext/gc/src/world.cpp).
  const sleep_wrapper wrapper = wraps_sleep.load(std::memory_order_acquire);
  if (!wrapper) [[likely]]
    return static_cast<void>(sleep());
  using called = std::remove_reference_t<Sleep>;
  wrapper([](void* with) { (*static_cast<called*>(with))(); }, std::addressof(sleep));
}

// A moment in which a thread counts as one that sleeps: where an executor has come back from a coroutine.
inline void halt_if_asked() noexcept {
  asleep([] {});
}

}}}  // namespace hocket::detail
