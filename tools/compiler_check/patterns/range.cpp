// A range-for over an awaited range.
#include "support.hpp"

struct numbers {
  tracked alive;
  int all[3] = {1, 2, 3};
  const int* begin() const { return all; }
  const int* end() const { return all + alive.value() * 0 + 3; }
};
task<numbers> some() {
  co_await turn{};
  co_return numbers{};
}
task<int> pattern() {
  int sum = 0;
  for (int value : co_await some()) {
    sum += value;
    co_await turn{};
  }
  co_return sum;
}

int main() { return verdict(pattern, 6); }
