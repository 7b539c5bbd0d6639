// Arguments that are awaited, with objects around them.
#include "support.hpp"

task<int> two(tracked a, tracked b) {
  co_await turn{};
  co_return 10 * a.value() + b.value();
}
task<int> pattern() { co_return co_await two(tracked(co_await number(1)), co_await object(2)); }

int main() { return verdict(pattern, 12); }
