#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/fiber_local.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

using namespace hocket;

namespace {
fiber_local<int> depth;
fiber_local<std::string> label;

struct noisy {
  static inline std::vector<int> destroyed;
  int id = 0;
  ~noisy() { destroyed.push_back(id); }
};
fiber_local<noisy> first, second;
}  // namespace

TEST_CASE("each fiber has its own value, and the thread has one too") {
  *depth = 100;
  auto count = [](auto& self) {
    for (;;) self.yield(++*depth);
    return 0;
  };
  coroutine<int()> a{count}, b{count};
  CHECK(a.resume() == 1);
  CHECK(a.resume() == 2);
  CHECK(b.resume() == 1);
  CHECK(*depth == 100);
  std::thread([] { CHECK(*depth == 0); }).join();
}

TEST_CASE("a nested fiber sees its own value, not its resumer's") {
  coroutine<void()> outer{[](auto&) {
    *label = "outer";
    coroutine<void()> inner{[](auto&) {
      CHECK(label->empty());
      *label = "inner";
    }};
    inner.resume();
    CHECK(*label == "outer");
  }};
  outer.resume();
}

TEST_CASE("values are destroyed when their fiber ends, last made first") {
  noisy::destroyed.clear();
  coroutine<void()> ends{[](auto&) {
    first->id = 1;
    second->id = 2;
  }};
  ends.resume();
  CHECK(noisy::destroyed == std::vector<int>{2, 1});
  noisy::destroyed.clear();
  {
    coroutine<void()> unwound{[](auto& self) {
      first->id = 3;
      self.yield();
    }};
    unwound.resume();
  }
  CHECK(noisy::destroyed == std::vector<int>{3});
}
