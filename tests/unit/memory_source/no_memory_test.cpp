// A memory_source without memory: each operation reports that as it does without a source, and nothing leaks.
#include <hocket/context/seam/switch.hpp>
#include <hocket/hocket.hpp>

#include "unit/memory_source/blocks.hpp"

#include <doctest/doctest.h>
#include <new>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

task<int> one() { co_return 1; }

// Whether what act() does is possible with the memory that there is.
template <class Act>
bool has_memory(Act&& act) {
  try {
    act();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

template <class Act>
std::size_t allocations(Act&& act) {
  return blocks::fail_each([&] { return has_memory(act); });
}

}  // namespace

TEST_CASE("a task, a generator and a spawn throw bad_alloc") {
  loop lp;
  lp.run();
  CHECK(allocations([] { static_cast<void>(sync_wait(one())); }) >= 1);
  CHECK(allocations([&] {
          auto handle = spawn(lp, one);
          lp.run();
          static_cast<void>(sync_wait(std::move(handle)));
        }) >= 1);
  CHECK(allocations([&] {
          auto handle = spawn(lp, [] { return 1; });
          lp.run();
          static_cast<void>(sync_wait(std::move(handle)));
        }) >= 1);
  CHECK(allocations([] {
          auto ones = []() -> generator<int> { co_yield 1; }();
          static_cast<void>(ones.begin());
        }) == 1);
}

TEST_CASE("channels, broadcasts, oneshots and locals throw bad_alloc") {
  static fiber_local<int> local;
  CHECK(allocations([] { channel<int> items(3); }) == 1);
  CHECK(allocations([] { spsc_channel<int> items(3); }) == 1);
  CHECK(allocations([] { broadcast<int> items(3); }) == 1);
  CHECK(allocations([] { static_cast<void>(make_oneshot<int>()); }) == 1);
  loop lp;
  spawn(lp, [] {
    {
      const blocks::failing memory(1);
      CHECK_THROWS_AS(*local, std::bad_alloc);
    }
    CHECK(*local == 0);
  });
  lp.run();
}

TEST_CASE("a send to an unbounded channel fails with not_enough_memory, and works later") {
  const blocks::none_left check;
  channel<int> items(channel<int>::unbounded);
  {
    const blocks::failing memory(1, 2);  // it looks twice
    CHECK(items.try_send(1).error() == std::errc::not_enough_memory);
  }
  CHECK(items.try_send(2));
  CHECK(items.try_receive().value() == 2);
}

TEST_CASE("a group of many children throws bad_alloc") {
  CHECK(allocations([] {
          std::vector<task<int>> children;
          for (int i = 0; i < 3; ++i) children.push_back(one());
          static_cast<void>(sync_wait(when_all(std::move(children))));
        }) >= 4);
}

TEST_CASE("a coroutine for whose image there is no memory does not hibernate" *
          doctest::skip(detail::machine::fibers_are_threads)) {
  stack_pool pool({.protection = guard::required});
  coroutine<void()> one(pool, [](auto& self) { self.yield(); });
  one.resume();
  CHECK(blocks::fail_each([&] {
          const bool packed = hibernate(one);
          if (packed) one.resume();
          return packed;
        }) == 1);
}
