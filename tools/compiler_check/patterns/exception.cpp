// An exception leaves a co_await while temporaries live.
// Instead: await into variables first.
#include "support.hpp"

task<int> failing() {
  co_await turn{};
  throw 5;
  co_return 0;
}
task<int> two(tracked a, tracked b) {
  co_await turn{};
  co_return 10 * a.value() + b.value();
}
task<int> pattern() {
  try {
    co_return co_await two(tracked(1), tracked(co_await failing()));
  } catch (int thrown) {
    co_return thrown;
  }
}

int main() { return verdict(pattern, 5); }
