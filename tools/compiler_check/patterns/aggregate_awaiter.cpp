// An awaiter without a constructor is made with an object in it.
// Instead: give the awaiter a constructor.
#include "support.hpp"

struct giving {
  tracked value;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) { waiting.push_back(handle); }
  int await_resume() const { return value.value(); }
};
task<int> pattern() { co_return co_await giving{tracked(7)}; }

int main() { return verdict(pattern, 7); }
