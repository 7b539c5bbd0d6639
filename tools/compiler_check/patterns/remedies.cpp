// What is advised instead: names, constructors, two steps, if and else.
#include "support.hpp"

struct pair {
  tracked first, second;
};
struct built {
  tracked first, second;
  built(int a, int b) : first(a), second(b) {}
};
template <class F>
struct calling {
  F function;
  explicit calling(F callable) : function(std::move(callable)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { waiting.push_back(handle); }
  int await_resume() { return function(); }
};
task<int> sum(auto both) {
  co_await turn{};
  co_return both.first.value() + both.second.value();
}

task<int> named_then_moved() {
  tracked c(3);
  auto function = [c] { return c.value(); };
  co_return co_await result_of(std::move(function));
}
task<int> in_two_steps() {
  tracked c(3);
  auto first = result_of([c] { return c.value(); });
  auto second = sum(pair{tracked(1), tracked(2)});
  int a = co_await std::move(first);
  int b = co_await std::move(second);
  co_return a + b;
}
task<int> with_constructors() {
  tracked c(3);
  int a = co_await sum(built(1, 2));
  auto function = [c] { return c.value(); };
  int b = co_await calling(std::move(function));
  co_return a + b;
}
task<int> by_if(bool first) {
  if (!first) co_return 2;
  tracked result = co_await object(1);
  co_return result.value();
}
task<int> element_by_element() {
  tracked both[2];
  both[0] = co_await object(1);
  both[1] = co_await object(2);
  co_return both[0].value() + both[1].value();
}

task<int> pattern() {
  int total = co_await named_then_moved();
  total += co_await in_two_steps();
  total += co_await with_constructors();
  total += co_await by_if(true);
  total += co_await by_if(false);
  total += co_await element_by_element();
  co_return total;
}

int main() { return verdict(pattern, 3 + 6 + 6 + 1 + 2 + 3); }
