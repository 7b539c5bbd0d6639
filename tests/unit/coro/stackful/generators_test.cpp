// Generators of both sorts, where fibers read them.
#include <hocket/core/yield.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>

#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

async_generator<int> patient(int n) {
  for (int i = 0; i < n; ++i) {
    co_await yield();
    co_yield i;
  }
}

generator<int> waits_deep_below(event& gate, int depth) {
  counted local;
  if (depth > 0) co_yield elements_of(waits_deep_below(gate, depth - 1));
  else (void)await(gate.wait());
  co_yield depth;
}

}  // namespace

TEST_CASE("one async_generator is read by a fiber, a task and a thread, in turn") {
  std::vector<int> got;
  auto all = patient(4);
  run([&] { got.push_back(*await(all.next())); });
  run([&]() -> task<> {
    int* n = co_await all.next();
    got.push_back(*n);
    auto fiber = spawn([&] { got.push_back(*await(all.next())); });
    co_await fiber;
  });
  got.push_back(*await(all.next()));
  CHECK(await(all.next()) == nullptr);
  CHECK(got == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("a fiber waits in the innermost of nested generators, and a kill unwinds them all") {
  for (bool killed : {false, true}) {
    loop lp;
    event gate;
    std::vector<int> got;
    auto reader = spawn(lp, [&] {
      for (int n : waits_deep_below(gate, 3)) got.push_back(n);
    });
    while (lp.step()) {
    }
    CHECK(counted::live == 4);
    if (killed) reader.kill();
    else gate.set();
    lp.run();
    CHECK(counted::live == 0);
    CHECK(got == (killed ? std::vector<int>{} : std::vector<int>{0, 1, 2, 3}));
  }
}
