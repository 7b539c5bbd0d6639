// Fault 34: pools that never shrink. A process has 1,000 fibers; after a burst of 100,000 fibers and five seconds (of
// the loop's clock) the memory of the process is less than one and a half times what it was before.
#include <hocket/context/detail/platform/annotation.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "stack/memory.hpp"
#include "support/death.hpp"
#include "support/valgrind.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <malloc.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t burst = 100000;

// Resident memory and page tables, in bytes.
std::size_t used() {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  if (!file) return 0;
  char line[256];
  std::size_t sum = 0, value = 0;
  while (std::fgets(line, sizeof line, file))
    if (std::sscanf(line, "VmRSS: %zu", &value) == 1 || std::sscanf(line, "VmPTE: %zu", &value) == 1) sum += value;
  std::fclose(file);
  return sum * 1024;
}

void idle(loop& lp, duration time) {
  auto_reset_event never;
  auto pause = spawn(lp, [&]() -> task<void> { static_cast<void>(co_await within(time, never.wait())); });
  lp.run_until(pause);
}

void burst_and_idle(bool markers) {
  if (!markers) detail::refuse_guard_markers();  // then most of the burst has canaries
  manual_clock time;
  simulated_parker parker(time);
  stack_depot::shared().tune({.protection = guard::preferred, .clock = &time});  // 100,000 of mprotect cannot be had
  frame_memory_decay(1s, time);
  loop lp({.clock = &time, .parker = &parker});
  event end, all;
  for (int i = 0; i < 1000; ++i) spawn(lp, [&] { static_cast<void>(await(end.wait())); });
  idle(lp, 5s);
  const std::size_t before = used();
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < burst; ++i)
    spawn(lp, [&] {
      if (++waiting == burst) all.set();
      static_cast<void>(await(all.wait()));
    });
  while (lp.live() != 1000) lp.step();
  const std::size_t high = used();
  idle(lp, 5s);
  malloc_trim(0);  // what spawns took of the heap is the allocator's
  const std::size_t after = used();
  std::fprintf(stderr, "before %zu KB, after the burst %zu KB, five seconds later %zu KB\n", before >> 10, high >> 10,
               after >> 10);
  // Without markers from the start this may be an emulator: its own memory, which grows with the burst, is in the
  // figures.
  const bool emulated = markers && stack_depot::shared().statistics().unguarded != 0;
  const bool given_back = emulated ? (high - after) * 10 >= (high - before) * 9 : after * 2 < before * 3;
  if (high < before + burst * 4096 || !given_back) std::abort();
  end.set();
  lp.run();
}

}  // namespace

TEST_CASE("fault 34: stacks of a burst are given back" *
          doctest::skip(detail::sanitizer != detail::sanitizer_kind::plain || detail::machine::fibers_are_threads ||
                        hocket_test::runs_in_valgrind())) {
  for (const bool markers : {true, false}) {
    if (!markers && !detail::guards_are_markers()) continue;  // that was the first round
    auto end = hocket_test::end_of_child([markers] { burst_and_idle(markers); });
    CHECK_MESSAGE(end.how == "the body returned", end.errors);
    MESSAGE(end.errors);
  }
}
