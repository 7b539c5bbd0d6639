// FAULT 24: a frame destroyed while suspended (libcoro#137, zedio#26, qcoro#26, cobalt#194). A coroutine is destroyed
// at each of its suspension points: every local is destroyed exactly once, nothing leaks, the stack comes back.
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace hocket;

namespace {

int alive = 0;
struct tracked {
  std::string text = "a string that does not fit into the small buffer";
  tracked() { ++alive; }
  tracked(const tracked& other) : text(other.text) { ++alive; }
  ~tracked() { --alive; }
};

constexpr int points = 6;

void body(coroutine<int(tracked)>::self& self, tracked) {
  tracked a;
  self.yield(1);
  {
    std::vector<tracked> several(3);
    self.yield(2);
  }
  try {
    auto owned = std::make_unique<tracked>();
    self.yield(3);
    throw tracked();
  } catch (const tracked&) {
    self.yield(4);  // destroyed in here: the exception that is being handled goes, too
  }
  for (tracked b; self.yield(5), false;) {
  }
  self.yield(6);
}

}  // namespace

TEST_CASE("fault 24: a coroutine is destroyed at every suspension point") {
  stack_pool pool;
  for (int stop = 0; stop <= points; ++stop) {
    {
      coroutine<int(tracked)> c{pool, [](auto& self, tracked first) {
                                  body(self, std::move(first));
                                  return 0;
                                }};
      for (int i = 1; i <= stop; ++i) CHECK(c.resume(tracked()) == i);
    }
    CHECK(alive == 0);
    CHECK(pool.statistics().live == 0);
  }
}
