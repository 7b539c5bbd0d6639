#include "counting.hpp"

#include <hocket/base/detail/atomic.hpp>
#include <hocket/base/detail/cache_line.hpp>
#include <hocket/core/detail/current.hpp>
#include <hocket/hook/hook.hpp>

#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {
namespace {

constexpr std::size_t kinds = 3, sets = 16;

using fds = std::array<primitive::atomic<std::uint64_t>, kinds>;
constinit std::array<hocket::detail::padded<fds>, sets> all{};

fds& of_this_thread() noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&hocket::detail::this_thread());
  return *all[(address >> 12) % sets];
}

std::uint64_t sum(counted what) noexcept {
  std::uint64_t total = 0;
  // ORDER: relaxed, pairs with nothing: statistics.
  for (const auto& one : all) total += (*one)[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  return total;
}

}  // namespace

void count(counted what) noexcept {
  // ORDER: relaxed, pairs with nothing: see sum().
  of_this_thread()[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
}

statistics collect_statistics() noexcept { return {sum(counted::calls), sum(counted::waits), sum(counted::pooled)}; }

}}}  // namespace hocket::hook
