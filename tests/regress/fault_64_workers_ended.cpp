// Fault 64: memory that threads keep is left behind when they end. Many runtimes after each other do the same
// work: the kept memory of frames does not grow with their number. (LeakSanitizer, in the build with ASan, finds memory
// that is kept nowhere. Stacks: stackful/fault_64_stacks_of_workers.cpp.)
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/runtime.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

using namespace hocket;

namespace {

task<int> one() {
  co_await yield();
  co_return 1;
}

task<int> many() {
  std::vector<task<int>> children;
  for (int i = 0; i < 500; ++i) children.push_back(one());
  auto all = co_await when_all(std::move(children));
  co_return static_cast<int>(all.size());
}

void use_a_runtime(std::size_t workers) {
  hocket::runtime rt({.workers = workers});
  std::vector<join_handle<int>> handles;
  for (int i = 0; i < 8; ++i) handles.push_back(spawn(rt, many));
  for (auto& handle : handles) REQUIRE(sync_wait(std::move(handle)) == 500);
}

std::size_t kept() {
  const frame_memory_statistics now = frame_memory_usage();
  return now.held + now.shared;
}

}  // namespace

TEST_CASE("fault 64: the frames that are kept do not grow with the number of runtimes that have ended") {
  for (const std::size_t workers : {1u, 4u}) {
    CAPTURE(workers);
    trim_frame_memory();
    std::size_t most_of_few = 0;
    for (int i = 0; i < 20; ++i) {
      use_a_runtime(workers);
      most_of_few = std::max(most_of_few, kept());
    }
    for (int i = 0; i < 200; ++i) {
      use_a_runtime(workers);
      REQUIRE(kept() <= 2 * most_of_few);  // how many frames there are at once is not always the same
    }
  }
}
