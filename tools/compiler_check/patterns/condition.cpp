// `if (co_await x)` in a body without a variable of its own.
// Instead: name what is awaited: `if (auto got = co_await x)`.
#include "support.hpp"

int right = 0;

task<int> pattern() {
  if (co_await number(1)) right += 1;
  if (!co_await number(0)) right += 10;
  co_return right;
}

int main() { return verdict(pattern, 11); }
