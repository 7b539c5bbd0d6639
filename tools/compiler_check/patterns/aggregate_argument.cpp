// An aggregate is made in the co_await expression.
// Instead: give the type a constructor, or make the task first: `auto t = f({...}); co_await std::move(t);`.
#include "support.hpp"

struct pair {
  tracked first, second;
};
task<int> sum(pair both) {
  co_await turn{};
  co_return both.first.value() + both.second.value();
}
task<int> pattern() { co_return co_await sum(pair{tracked(1), tracked(2)}); }

int main() { return verdict(pattern, 3); }
