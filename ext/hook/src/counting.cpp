#include "counting.hpp"

#include <hocket/hook/hook.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

constinit std::array<hocket::detail::padded<counter_set>, 16> counter_sets{};

namespace {

std::uint64_t sum(counted event) noexcept {
  std::uint64_t total = 0;
  // ORDER: relaxed, pairs with nothing: statistics.
  for (const auto& each : counter_sets)
    total += (*each)[static_cast<std::size_t>(event)].load(std::memory_order_relaxed);
  return total;
}

}  // namespace

statistics collect_statistics() noexcept { return {sum(counted::calls), sum(counted::waits), sum(counted::pooled)}; }

}}}  // namespace hocket::hook
