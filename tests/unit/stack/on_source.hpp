// Depots on a source of the test's, in all layouts.
#pragma once
#include <hocket/base/seam/copy_memory.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <hocket/stack/stack_source.hpp>

#include "support/kernel_copies.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

namespace hocket_test {

inline constexpr std::size_t megabyte = std::size_t{1} << 20;

// Every way in which stacks lie in memory.
inline constexpr hocket::stack_options kinds[] = {{.stack_size = 16384},
                                                  {.stack_size = 16384, .protection = hocket::guard::preferred},
                                                  {.stack_size = 16384, .protection = hocket::guard::canary},
                                                  {.stack_size = 8192, .layout = hocket::stack_layout::dense},
                                                  {.stack_size = 65536, .layout = hocket::stack_layout::copied}};

inline hocket::stack_options on(hocket::stack_source& source, hocket::stack_options options) {
  options.source = &source;
  return options;
}

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void fill(const hocket::stack_pool& pool, const std::vector<hocket::stack_ref>& stacks) {
  for (const hocket::stack_ref& stack : stacks)
    if (!pool.shares_stacks()) std::memset(stack.low, 0xff, stack.size());
}

inline void expect_guards(const std::vector<hocket::stack_ref>& stacks) {
  if (!kernel_copies()) return;
  for (const hocket::stack_ref& stack : stacks) {
    std::uint64_t word = 0;
    if (stack.canary) continue;
    require(!hocket::detail::copy_memory(&word, stack.low - sizeof word, sizeof word));
    require(hocket::detail::copy_memory(&word, stack.low, sizeof word));
  }
}

// As many as there are, at most `most`; a failure is asked for once more.
inline std::vector<hocket::stack_ref> acquire_some(hocket::stack_pool& pool, std::size_t most, std::size_t& failures) {
  std::vector<hocket::stack_ref> stacks;
  while (stacks.size() < most) {
    auto stack = pool.acquire();
    if (!stack) {
      require(stack.error() == std::errc::not_enough_memory);
      if (++failures > 1) break;
      continue;
    }
    stacks.push_back(*stack);
  }
  return stacks;
}

}  // namespace hocket_test
