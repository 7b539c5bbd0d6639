// A generator is a single pass: the one view that reads it owns it.
// expect: no match for .operator\||invalid operands to binary expression
#include <hocket/coro/generator.hpp>

#include <ranges>

hocket::generator<int> numbers();
inline auto first_three() {
  auto all = numbers();
#ifdef SHOULD_FAIL
  for (int n : all | std::views::take(3)) static_cast<void>(n);
#endif
  return std::move(all) | std::views::take(3);
}
