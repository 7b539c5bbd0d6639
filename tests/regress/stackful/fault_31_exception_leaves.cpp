// FAULT 31: an exception that leaves the body is captured and leaves resume(); it never reaches the fiber's entry.
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace hocket;

TEST_CASE("fault 31: what leaves the body leaves the resume that ran it, at any depth") {
  struct not_std {};
  coroutine<void()> outer{[](auto& self) {
    coroutine<void()> inner{[](auto& inner_self) {
      inner_self.yield();
      throw not_std{};
    }};
    inner.resume();
    self.yield();
    inner.resume();
  }};
  outer.resume();
  CHECK_THROWS_AS(outer.resume(), not_std);
  CHECK(outer.done());
}
