// Fibers that are spawned at one worker of a runtime.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/detail/worker_at.hpp>
#include <hocket/runtime/runtime.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;

namespace {

thread_local std::size_t present_worker = ~std::size_t{0};

[[gnu::noinline]] std::size_t where() { return present_worker; }

int turns_elsewhere(std::size_t at, int turns) {
  int elsewhere = 0;
  for (int i = 0; i < turns; ++i) {
    elsewhere += where() != at;
    await(yield());
  }
  return elsewhere;
}
std::size_t first_turn() {
  const std::size_t first = where();
  await(yield());
  return first;
}

}  // namespace

TEST_CASE("a fiber that is spawned at a worker begins there and stays; a migratable one begins there") {
  runtime rt({.workers = 3, .on_start = [](std::size_t index) { present_worker = index; }});
  for (std::size_t at : {0u, 1u, 2u}) {
    detail::worker_at there(rt, at);
    std::vector<join_handle<int>> stay;
    std::vector<join_handle<std::size_t>> migrate;
    for (int i = 0; i < 100; ++i) {
      stay.push_back(spawn(there, turns_elsewhere, at, 3));
      migrate.push_back(spawn(there, {.migratable = true}, first_turn));
    }
    for (auto& one : stay) CHECK(sync_wait(one) == 0);
    for (auto& one : migrate) CHECK(sync_wait(one) == at);
  }
}
