// A completion allocates nothing, nor does what is made of its waits.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/sync/completion.hpp>

#include "support/alloc.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a completion and its waits allocate nothing") {
  completion<int> answer;
  std::size_t allocations = 1;
  int sum = 0;
  {
    allocation_watch watch;
    for (int i = 0; i < 3; ++i) {
      auto done = answer.make_completer();
      done.complete(i);
      sum += *sync_wait(answer.wait());
      answer.reset();
    }
    allocations = watch.allocations();
  }
  CHECK(sum == 3);
  CHECK(allocations == 0);
}

TEST_CASE("a then of an operation allocates nothing") {
  completion<int> answer;
  answer.complete(7);
  std::size_t allocations = 1;
  int got = 0;
  {
    allocation_watch watch;
    auto next = then(answer.wait(), [](result<const int&> n) { return *n + 1; });
    got = sync_wait(std::move(next));
    allocations = watch.allocations();
  }
  CHECK(got == 8);
  CHECK(allocations == 0);
}
