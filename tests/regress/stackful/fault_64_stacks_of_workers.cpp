// Fault 64: what threads keep for themselves stays behind when they end. Many runtimes after each other run fibers:
// none of their workers has a stack when it has ended.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/stack/stack_depot.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;

namespace {

constexpr int fibers = 50;

void use_a_runtime() {
  hocket::runtime rt({.workers = 4});
  auto body = [] {
    for (int i = 0; i < 5; ++i) await(yield());
    return 1;
  };
  std::vector<join_handle<int>> handles;
  for (int i = 0; i < fibers; ++i) handles.push_back(spawn(rt, body));
  for (auto& handle : handles) REQUIRE(sync_wait(std::move(handle)) == 1);
}

}  // namespace

TEST_CASE("fault 64: workers that have ended keep no stacks") {
  const std::size_t lent = stack_depot::shared().statistics().in_use;  // to the threads that are there anyway
  for (int i = 0; i < 100; ++i) {
    use_a_runtime();
    REQUIRE(stack_depot::shared().statistics().in_use == lent);
  }
}
