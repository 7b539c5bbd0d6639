// `b ? co_await x : C()`.
// Instead: use if and else.
#include "support.hpp"

task<int> chosen(bool first) {
  tracked chosen = first ? co_await object(1) : tracked(2);
  co_return chosen.value();
}
task<int> pattern() {
  int a = co_await chosen(true);
  int b = co_await chosen(false);
  co_return 10 * a + b;
}

int main() { return verdict(pattern, 12); }
