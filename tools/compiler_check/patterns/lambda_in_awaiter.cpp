// An awaiter without a constructor is made with a lambda in it.
// Instead: give the awaiter a constructor, and name the lambda before it is moved there.
#include "support.hpp"

template <class F>
struct calling {
  F function;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { waiting.push_back(handle); }
  int await_resume() { return function(); }
};
template <class F>
calling(F) -> calling<F>;

task<int> pattern() {
  tracked c(3);
  co_return co_await calling{[c] { return c.value(); }};
}

int main() { return verdict(pattern, 3); }
