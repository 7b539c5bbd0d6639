#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/forks.hpp>
#include <hocket/base/detail/sleepers.hpp>

#include <pthread.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constinit atomic<std::uint32_t> forks{0};

void begin_child() noexcept {
  // ORDER: relaxed, pairs with nothing: there is one thread in a child.
  forks.fetch_add(1, std::memory_order_relaxed);
  forget_sleepers();
}

bool watch_forks() noexcept { return ::pthread_atfork(nullptr, nullptr, begin_child) == 0; }

}  // namespace

std::uint32_t forks_so_far() noexcept {
  static const bool watched = watch_forks();
  static_cast<void>(watched);
  // ORDER: relaxed, pairs with nothing: see above.
  return forks.load(std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
