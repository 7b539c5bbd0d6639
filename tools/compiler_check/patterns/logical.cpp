// Temporaries on both sides of `&&` or `||` around a co_await.
// Instead: await first, into a variable.
#include "support.hpp"

task<int> pattern() {
  bool both = tracked(1).value() && co_await value_of(tracked(1));
  bool any = tracked(0).value() || co_await value_of(tracked(0));
  co_return 10 * both + any;
}

int main() { return verdict(pattern, 10); }
