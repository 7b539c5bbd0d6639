// No memory for the image of a stack: a coroutine that was to hibernate stays where it is, a copied stack is not given
// away, and nothing is lost.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>

#include "support/alloc.hpp"
#include "support/death.hpp"

#include <doctest/doctest.h>
#include <new>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

coroutine<int()> counter(stack_pool& pool, literal_name name) {
  return coroutine<int()>{{.name = name, .pool = &pool}, [](auto& self) -> int {
                            std::string word = "on the heap, since it is longer than the small buffer";
                            for (int i = 1; word.size() > 20; ++i) self.yield(i);
                            return 0;
                          }};
}

}  // namespace

// doctest allocates as well: nothing is checked while a watch is on.
TEST_CASE("a coroutine for whose image there is no memory does not hibernate, and goes on" *
          doctest::skip(detail::machine::fibers_are_threads)) {
  stack_pool pool;
  coroutine<int()> one = counter(pool, "one");
  CHECK(one.resume() == 1);
  const std::size_t packed = hibernation_usage().packed;
  std::size_t failing = 1;
  int turns = 1;
  for (bool failed = true; failed; ++failing) {
    bool hibernates = false;
    {
      allocation_watch watch(failing);
      hibernates = hibernate(one);
      failed = watch.has_failed();
    }
    CHECK(hibernates == !failed);
    CHECK(hibernation_usage().packed == packed + hibernates);
    CHECK(one.resume() == ++turns);
  }
  CHECK(failing >= 3);  // the image, at least
  CHECK(hibernation_usage().packed == packed);
}

TEST_CASE("a coroutine is not made on a shared stack if there is no memory to save who has it") {
  stack_pool pool({.layout = stack_layout::copied});
  coroutine<int()> first = counter(pool, "first");
  CHECK(first.resume() == 1);
  bool thrown = false, failed = false;
  {
    allocation_watch watch(1);
    try {
      coroutine<int()> second = counter(pool, "second");
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    failed = watch.has_failed();
  }
  CHECK(failed);
  CHECK(thrown);
  CHECK(pool.statistics().live == 1);
  CHECK(first.resume() == 2);
  coroutine<int()> second = counter(pool, "second");
  CHECK(second.resume() == 1);
  CHECK(first.resume() == 3);
  CHECK(second.resume() == 2);
}

TEST_CASE("one that comes back to a shared stack must have it: without memory to save another that is fatal") {
  expect_fatal(
      [] {
        stack_pool pool({.layout = stack_layout::copied});
        coroutine<int()> first = counter(pool, "first");
        first.resume();
        coroutine<int()> second = counter(pool, "second");
        second.resume();
        allocation_watch watch(1);
        first.resume();
      },
      "there is no memory to save the frames on a copied stack [coroutine first]");
}
