// Faults 1 and 3: a wake-up is lost between the last look of a worker and its sleep, or what other threads bring stays
// where it is while all workers sleep. Each spawn comes while they fall asleep, or when all of them sleep; it ends, or
// this test hangs. Every schedule: tests/model/runtime/worker_core_test.cpp, tests/model/core/{parker,inbox}_test.cpp.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/runtime_look.hpp"

#include <doctest/doctest.h>

using namespace hocket;

namespace {

constexpr int times = detail::sanitizer == detail::sanitizer_kind::plain ? 50'000 : 2'000;

task<int> gives(int n) { co_return n; }

}  // namespace

TEST_CASE("fault 1: what is spawned while the workers fall asleep runs") {
  for (const std::size_t workers : {1u, 2u, 8u}) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    for (int i = 0; i < times; ++i) REQUIRE(sync_wait(spawn(rt, gives, i)) == i);
  }
}

TEST_CASE("fault 3: what is spawned when all workers sleep runs") {
  for (const std::size_t workers : {1u, 2u, 8u}) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    for (int i = 0; i < times / 5; ++i) {
      detail::runtime_look::wait_until_asleep(rt);
      REQUIRE(sync_wait(spawn(rt, gives, i)) == i);
    }
  }
}
