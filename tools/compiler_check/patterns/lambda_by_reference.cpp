// A lambda with captures, made in the co_await expression, is passed by reference.
// Instead: name it first.
#include "support.hpp"

task<int> called(const auto& function) {
  co_await turn{};
  co_return function();
}
task<int> pattern() {
  tracked c(3);
  co_return co_await called([c, d = tracked(4)] { return 10 * c.value() + d.value(); });
}

int main() { return verdict(pattern, 34); }
