// If the stacks of fibers cannot be found, gc::boehm reports it.
#include <hocket/gc/boehm.hpp>

#include <doctest/doctest.h>
#include <system_error>

using namespace hocket;

TEST_CASE("start() is refused by name") {
  CHECK_THROWS_WITH_AS(gc::boehm::start(), doctest::Contains("cannot be found in this build"), std::system_error);
}
