// A program with `using namespace hocket` and functions of its own that have the names of ours.
#include <hocket/stackless.hpp>

#include <doctest/doctest.h>

using namespace hocket;

namespace {

struct settings {
  int value = 0;
};

int run(std::size_t a, std::size_t b) { return static_cast<int>(a + b); }
int run(const settings& with) { return with.value; }
int spawn(std::size_t n) { return static_cast<int>(n); }
int blocking(std::size_t n) { return static_cast<int>(n); }
int when_all(std::size_t n, const settings& with) { return static_cast<int>(n) + with.value; }

}  // namespace

TEST_CASE("a program's own functions run, spawn, blocking and when_all are called, also where a conversion is needed") {
  settings with{7};
  CHECK(run(1, 2) == 3);
  CHECK(run(with) == 7);
  CHECK(spawn(4) == 4);
  CHECK(blocking(5) == 5);
  CHECK(when_all(1, with) == 8);
}
