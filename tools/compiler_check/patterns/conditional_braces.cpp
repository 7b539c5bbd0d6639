// `co_return b ? C{co_await x} : C{2}`.
// Instead: use if and else.
#include "support.hpp"

task<tracked> chosen(bool first) { co_return first ? tracked{co_await number(1)} : tracked{2}; }
task<int> pattern() {
  tracked a = co_await chosen(true);
  tracked b = co_await chosen(false);
  co_return 10 * a.value() + b.value();
}

int main() { return verdict(pattern, 12); }
