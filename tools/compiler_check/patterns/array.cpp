// An array is initialised by co_awaits.
// Instead: make the array, then assign its elements.
#include "support.hpp"

task<int> pattern() {
  tracked both[2] = {co_await object(1), co_await object(2)};
  co_return 10 * both[0].value() + both[1].value();
}

int main() { return verdict(pattern, 12); }
