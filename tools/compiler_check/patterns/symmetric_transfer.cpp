// A million awaits that end at once take no stack.
// Instead: hocket counts its own awaits and takes another way in time; for other coroutines -O2, and no g++ under sanitizers.
#include "support.hpp"

task<int> at_once() { co_return 1; }
task<int> pattern() {
  int sum = 0;
  for (int i = 0; i < 1000000; ++i) sum += co_await at_once();
  co_return sum;
}

int main() { return verdict(pattern, 1000000); }
