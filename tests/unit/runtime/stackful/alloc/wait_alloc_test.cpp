// A fiber's awaiter lies in memory of the frames that its thread keeps: waits allocate nothing once there is some, and
// need none where there is none. Who begins on a stack that others share needs some for their frames.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>

#include "support/alloc.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <system_error>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a fiber waits where there is no memory for its awaiter") {
  loop on;
  auto_reset_event ready;
  bool failed = false, granted = false;
  spawn(on, [&] {
    trim_frame_memory();
    allocation_watch watch(1);
    granted = await(ready.wait()).has_value();
    failed = watch.has_failed();
  });
  spawn(on, [&] { ready.set(); });
  on.run();
  CHECK(failed);
  CHECK(granted);
}

TEST_CASE("the second wait of a fiber allocates nothing" * doctest::skip(!detail::recycles_frames)) {
  loop on;
  auto_reset_event ready, done;
  std::size_t allocations = 1;
  constexpr int waits = 10;
  spawn(on, [&] {
    CHECK(await(ready.wait()).has_value());
    allocation_watch watch;
    for (int i = 1; i < waits; ++i) {
      done.set();
      if (!await(ready.wait())) return;
    }
    allocations = watch.allocations();
  });
  spawn(on, [&] {
    for (int i = 0; i < waits; ++i) {
      ready.set();
      if (i + 1 < waits && !await(done.wait())) return;
    }
  });
  on.run();
  CHECK(allocations == 0);
}

TEST_CASE("a fiber does not begin on a shared stack if there is no memory to save who has it" *
          doctest::skip(detail::machine::fibers_are_threads)) {  // nothing is saved there
  const spawn_options copied{.stack = stack_kind::copied};
  event end;
  loop on;
  std::optional<allocation_watch> watch;
  bool failed = false, began = false;
  auto first = spawn(on, copied, [&] { return await(end.wait()).has_value(); });
  spawn(on, [&] { watch.emplace(1); });
  auto second = spawn(on, copied, [&] { began = true; });
  spawn(on, [&] {
    failed = watch->has_failed();
    watch.reset();
    end.set();
  });
  on.run();
  CHECK(failed);
  CHECK_FALSE(began);
  CHECK(await(first));
  try {
    await(second);
    FAIL("a fiber ran without a stack");
  } catch (const std::system_error& error) {
    CHECK(error.code() == std::errc::not_enough_memory);
  }
}
