// Fibers that are spawned at one worker of a runtime.
#include <hocket/core/executor.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

#include <doctest/doctest.h>
#include <set>
#include <vector>

using namespace hocket;

namespace {

// Which worker this is.
const executor* where() { return current_executor(); }

int turns_elsewhere(const executor* at, int turns) {
  int elsewhere = 0;
  for (int i = 0; i < turns; ++i) {
    elsewhere += where() != at;
    await(yield());
  }
  return elsewhere;
}
const executor* first_turn() {
  const executor* const first = where();
  await(yield());
  return first;
}

}  // namespace

TEST_CASE("a fiber that is spawned at a worker begins there and stays; a migratable one begins there") {
  constexpr std::size_t workers = 3;
  runtime rt({.workers = workers});
  std::set<const executor*> known;
  for (std::size_t index = 0; index < workers; ++index) {
    detail::worker_at there(rt, index);
    const executor* const at = sync_wait(spawn(there, where));
    known.insert(at);
    std::vector<join_handle<int>> stay;
    std::vector<join_handle<const executor*>> migrate;
    for (int i = 0; i < 100; ++i) {
      stay.push_back(spawn(there, turns_elsewhere, at, 3));
      migrate.push_back(spawn(there, {.migratable = true}, first_turn));
    }
    for (auto& one : stay) CHECK(sync_wait(one) == 0);
    for (auto& one : migrate) CHECK(sync_wait(one) == at);
  }
  CHECK(known.size() == workers);
}
