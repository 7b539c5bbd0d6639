#include <hocket/base/detail/sleepers.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

constinit sleeper_table sleepers{};

void forget_sleepers() noexcept {
  // ORDER: relaxed, pairs with nothing: there is one thread in a child.
  for (auto& count : sleepers.counts) count.store(0, std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
