#include <hocket/base/atomic.hpp>
#include <hocket/base/forks.hpp>

#include <pthread.h>

namespace hocket::inline HOCKET_ABI {
namespace {

constinit atomic<std::uint32_t> forks{0};

bool watch_forks() noexcept {
  // ORDER: relaxed, pairs with nothing: there is one thread in a child.
  return ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); }) == 0;
}

}  // namespace

std::uint32_t forks_so_far() noexcept {
  static const bool watched = watch_forks();
  static_cast<void>(watched);
  // ORDER: relaxed, pairs with nothing: see above.
  return forks.load(std::memory_order_relaxed);
}

}  // namespace hocket::inline HOCKET_ABI
