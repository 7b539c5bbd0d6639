// A lambda with captures is made in the co_await expression.
// Instead: name it, then move it: `auto f = [c] {...}; co_await g(std::move(f));`.
#include "support.hpp"

task<int> pattern() {
  tracked c(3);
  co_return co_await result_of([c] { return c.value(); });
}

int main() { return verdict(pattern, 3); }
