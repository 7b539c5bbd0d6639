// Many stacks at once.
#pragma once
#include <hocket/stack/stack_pool.hpp>

#include <cstddef>
#include <vector>

namespace hocket_test {

inline std::vector<hocket::stack_ref> acquire(hocket::stack_pool& pool, std::size_t count) {
  std::vector<hocket::stack_ref> stacks;
  for (std::size_t i = 0; i < count; ++i) stacks.push_back(pool.acquire().value());
  return stacks;
}
inline void release(hocket::stack_pool& pool, const std::vector<hocket::stack_ref>& stacks) {
  for (const hocket::stack_ref& stack : stacks) pool.release(stack);
}

}  // namespace hocket_test
