// The budget of synchronous transfers (hocket/coro/task.hpp, "Depth").
#include <hocket/coro/task.hpp>

#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <stdexcept>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> nothing() { co_return; }
task<> fails() {
  throw std::runtime_error("as told");
  co_return;
}

}  // namespace

TEST_CASE("a long run of awaits goes through the queue now and then, in both directions") {
  queue_executor queue;
  const auto per_trip = static_cast<int>(detail::transfer_budget);

  auto loop = [](int n) -> task<> {
    for (int i = 0; i < n; ++i) co_await nothing();
  };
  auto awaits = [&](int n) -> foreign {
    co_await hop_to(queue);
    co_await loop(n);
  };
  auto r = awaits(100 * per_trip);
  queue.run();
  CHECK(r.done());
  CHECK(queue.posts - 1 >= 190);  // two transfers an await
  CHECK(queue.posts - 1 <= 210);

  struct deep {
    static task<int> down(int n) {
      if (n > 0) co_return 1 + co_await down(n - 1);
      co_return 0;
    }
  };
  queue.posts = 0;
  int depth = 0;
  auto dive = [&](int n) -> foreign {
    co_await hop_to(queue);
    depth = co_await deep::down(n);
  };
  auto d = dive(100 * per_trip);
  queue.run();
  CHECK(d.done());
  CHECK(depth == 100 * per_trip);
  CHECK(queue.posts - 1 >= 190);
  CHECK(queue.posts - 1 <= 210);
}

TEST_CASE("a queued start keeps the exception and the parent") {
  queue_executor queue;
  int caught = 0;
  auto loop = [&]() -> task<> {
    for (int i = 0; i < 2000; ++i) {
      try {
        co_await fails();
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
  };
  auto root = [&]() -> foreign {
    co_await hop_to(queue);
    co_await loop();
  };
  auto r = root();
  queue.run();
  CHECK(r.done());
  CHECK(caught == 2000);
}
