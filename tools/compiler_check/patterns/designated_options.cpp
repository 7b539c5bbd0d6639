// Options with designated initialisers are made in the co_await expression.
// Instead: name the options first.
#include "support.hpp"

struct options {
  tracked name;
  int limit = 0;
};
task<int> open(const options& with) {
  co_await turn{};
  co_return with.name.value() + with.limit;
}
task<int> pattern() { co_return co_await open({.name = tracked(1), .limit = 2}); }

int main() { return verdict(pattern, 3); }
