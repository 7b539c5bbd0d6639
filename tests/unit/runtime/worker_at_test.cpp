// Coroutines that are spawned at one worker of a runtime. Fibers are in stackful/worker_at_test.cpp.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <ostream>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t nowhere = ~std::size_t{0};
thread_local std::size_t present_worker = nowhere;

runtime_options numbered(std::size_t workers) {
  return {.workers = workers, .on_start = [](std::size_t index) { present_worker = index; }};
}

task<std::size_t> place_of_first_turn() {
  const std::size_t first = present_worker;
  co_await yield();
  co_return first;
}

// From within: on whatever worker this runs, and while the others look for work.
task<int> count_elsewhere(runtime& rt, std::size_t at, int n) {
  detail::worker_at there(rt, at);
  std::vector<join_handle<std::size_t>> all;
  for (int i = 0; i < n; ++i) all.push_back(spawn(there, place_of_first_turn));
  int elsewhere = 0;
  for (auto& one : all) elsewhere += co_await one != at;
  co_return elsewhere;
}

}  // namespace

TEST_CASE("a task that is spawned at a worker begins there, from another thread and from a task") {
  runtime rt(numbered(3));
  for (std::size_t at : {0u, 1u, 2u}) {
    detail::worker_at there(rt, at);
    std::vector<join_handle<std::size_t>> all;
    for (int i = 0; i < 200; ++i) all.push_back(spawn(there, {.name = "there"}, place_of_first_turn));
    for (auto& one : all) CHECK(sync_wait(one) == at);
    CHECK(sync_wait(spawn(rt, count_elsewhere, std::ref(rt), at, 200)) == 0);
  }
}

TEST_CASE("a task that begins at a worker migrates afterwards") {
  runtime rt(numbered(2));
  auto migrates = [](runtime& on) -> task<bool> {
    const context& self = current_context();
    co_return self.strand() && self.strand()->migrates() && &detail::scheduled_of(self.strand())->home() == &on;
  };
  detail::worker_at second(rt, 1);
  CHECK(sync_wait(spawn(second, migrates, std::ref(rt))));
}

TEST_CASE("a runtime that was shut down refuses a spawn at a worker") {
  runtime rt(numbered(1));
  static_cast<void>(rt.shutdown({}));
  detail::worker_at first(rt, 0);
  auto refused = spawn(first, place_of_first_turn);
  CHECK(sync_wait(refused.join()).error() == std::errc::operation_canceled);
}

TEST_CASE("a worker that a runtime does not have is fatal") {
  runtime rt(numbered(1));
  expect_fatal([&] { static_cast<void>(detail::worker_at(rt, 1)); }, "a worker was named that a runtime does not have");
}
