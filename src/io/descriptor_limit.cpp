#include <hocket/base/seam/atomic.hpp>
#include <hocket/io/detail/descriptor_limit.hpp>
#include <hocket/io/seam/descriptor_table.hpp>

#include <sys/resource.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// 0: not raised.
constinit primitive::atomic<std::uint64_t> limit_before{0}, raised_to{0};

bool raise_limit() noexcept {
  rlimit present{};
  if (::getrlimit(RLIMIT_NOFILE, &present) != 0 || present.rlim_cur >= present.rlim_max) return false;
  const rlimit highest{present.rlim_max, present.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &highest) != 0) return false;
  // ORDER: relaxed, made visible by the store below.
  limit_before.store(present.rlim_cur, std::memory_order_relaxed);
  // ORDER: release, pairs with the load in soft_limit_to_inherit(): the limit before is visible.
  raised_to.store(highest.rlim_cur, std::memory_order_release);
  return true;
}

}  // namespace

void raise_descriptor_limit() noexcept {
  static const bool raised = raise_limit();
  static_cast<void>(raised);
}

std::uint64_t soft_limit_to_inherit() noexcept {
  // ORDER: acquire, pairs with the store in raise_limit().
  const std::uint64_t raised = raised_to.load(std::memory_order_acquire);
  rlimit present{};
  if (raised == 0 || ::getrlimit(RLIMIT_NOFILE, &present) != 0 || present.rlim_cur != raised) return 0;
  // ORDER: relaxed, ordered behind the load above.
  return limit_before.load(std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
