#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace hocket;

namespace {

struct counts_destruction {
  int& count;
  ~counts_destruction() { ++count; }
};

}  // namespace

TEST_CASE("a released coroutine is a bare coroutine_handle: resume, done, destroy") {
  int steps = 0, destroyed = 0;
  coroutine<void()> c{[&](auto& self) {
    counts_destruction local{destroyed};
    for (;; self.yield()) ++steps;
  }};
  c.resume();
  std::coroutine_handle<> handle = c.release();
  CHECK_FALSE(c);
  handle.resume();
  handle.resume();
  CHECK(steps == 3);
  CHECK_FALSE(handle.done());
  handle.destroy();
  CHECK(destroyed == 1);

  coroutine<int()> ends{[](auto& self) {
    self.yield(1);
    return 2;
  }};
  handle = ends.release();
  handle.resume();
  CHECK_FALSE(handle.done());
  handle.resume();
  CHECK(handle.done());
  handle.destroy();

  coroutine<void()> throws{[](auto&) { throw std::runtime_error("out"); }};
  handle = throws.release();
  CHECK_THROWS_AS(handle.resume(), std::runtime_error);
  CHECK(handle.done());
  handle.destroy();
}
