#include "support/alloc.hpp"
#include "unit/time/wheel_stand.hpp"

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a timer costs no memory but its node") {
  wheel_stand s;
  std::vector<test_timer> all(10'000);
  allocation_watch watch;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].when = at(static_cast<std::int64_t>(i * i));
    s.wheel.attach(all[i]);
  }
  for (std::size_t i = 0; i < all.size(); i += 2) (void)s.wheel.detach(all[i]);
  s.turn_at(at(100'000'000));
  CHECK(s.wheel.empty());
  CHECK(watch.allocations() == 0);
}
