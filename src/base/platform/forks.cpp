#include <hocket/base/detail/sleepers.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/forks.hpp>

#include <pthread.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constinit atomic<std::uint32_t> forks{0};
constinit atomic<pid_t> noticed{0};  // the process that is known here

// ORDER: relaxed, pairs with nothing: stored before there is a second thread or a handler that asks.
void notice_process() noexcept { noticed.store(::getpid(), std::memory_order_relaxed); }

void begin_child() noexcept {
  // ORDER: relaxed, pairs with nothing: there is one thread in a child.
  forks.fetch_add(1, std::memory_order_relaxed);
  notice_process();
  forget_sleepers();
}

bool watch_forks() noexcept {
  notice_process();
  return ::pthread_atfork(nullptr, nullptr, begin_child) == 0;
}

}  // namespace

std::uint32_t forks_so_far() noexcept {
  static const bool watched = watch_forks();
  static_cast<void>(watched);
  // ORDER: relaxed, pairs with nothing: see above.
  return forks.load(std::memory_order_relaxed);
}

// ORDER: relaxed, pairs with nothing: see notice_process().
bool has_called_fork_handlers() noexcept { return noticed.load(std::memory_order_relaxed) == ::getpid(); }

}}}  // namespace hocket::detail
