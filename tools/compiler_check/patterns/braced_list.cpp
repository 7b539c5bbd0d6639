// A braced list of objects is passed to a coroutine function.
// Instead: pass a named array or container.
#include "support.hpp"

task<int> sum(std::initializer_list<tracked> all) {
  co_await turn{};
  int total = 0;
  for (const tracked& element : all) total += element.value();
  co_return total;
}
task<int> pattern() { co_return co_await sum({tracked(1), tracked(2), tracked(3)}); }

int main() { return verdict(pattern, 6); }
