// Builds in which collectors cannot work say so.
#include <hocket/gc/world.hpp>

#include <doctest/doctest.h>
#include <system_error>

using namespace hocket;

TEST_CASE("a thread cannot be registered where fibers are threads") {
  CHECK_THROWS_WITH_AS(gc::enter_thread(), doctest::Contains("HOCKET_BACKEND=thread"), std::system_error);
}
