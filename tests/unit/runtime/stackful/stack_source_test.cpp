// Spawned fibers on memory of the user's: the process's depot of a size takes its slabs from a source.
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "support/stack_arena.hpp"

#include <doctest/doctest.h>

#include <system_error>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t size = 128 * 1024;  // a size class of its own, since depots are the process's
alignas(stack_arena::granule) std::byte memory[8 << 20];

std::size_t trim_all() {
  stack_depot::shared(size).trim();
  return detail::fiber_thread::current().pool_of(size).trim();
}

}  // namespace

TEST_CASE("spawned fibers run on a source's memory, one that has none ends with the error, and all of it goes back") {
  stack_arena arena(memory);
  stack_depot& depot = stack_depot::shared(size);
  trim_all();
  depot.tune({.source = &arena});
  {
    loop lp;
    event go;
    std::vector<join_handle<bool>> handles;
    for (int i = 0; i < 200; ++i)
      handles.push_back(spawn(lp, {.stack_size = size}, [&] {
        const std::byte here{};
        const bool holds = detail::machine::fibers_are_threads ||
                           arena.holds(static_cast<const std::byte*>(detail::stack_address(&here)));
        static_cast<void>(await(go.wait()));
        return holds;
      }));
    lp.run_for(std::chrono::milliseconds(0));
    go.set();
    lp.run();
    int on_it = 0, without = 0;
    for (auto& handle : handles) {
      try {
        on_it += await(handle);
      } catch (const std::system_error& error) {
        without += error.code() == std::errc::not_enough_memory;
      }
    }
    CHECK(on_it >= 50);
    CHECK(without > 0);
    CHECK(on_it + without == 200);
  }
  trim_all();
  depot.tune({});
  CHECK(arena.slabs() == 0);
  CHECK(arena.wrong() == 0);
  loop lp;
  auto later = spawn(lp, {.stack_size = size}, [] { return 5; });
  lp.run();
  CHECK(await(later) == 5);
}
