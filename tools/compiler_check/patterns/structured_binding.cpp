// A structured binding of an awaited aggregate.
#include "support.hpp"

struct pair {
  tracked first;
  int second;
};
task<pair> both() {
  co_await turn{};
  co_return pair{tracked(4), 5};
}
task<int> pattern() {
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    auto [a, b] = co_await both();
    sum += a.value() + b;
  }
  co_return sum;
}

int main() { return verdict(pattern, 27); }
