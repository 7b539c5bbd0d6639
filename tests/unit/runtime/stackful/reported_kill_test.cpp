// A wait that reports a kill, below frames of C that no exception may cross.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include <doctest/doctest.h>

#include <cstdlib>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

event* awaited = nullptr;
std::error_code seen;

// As a library of C calls it: an exception that leaves it ends the program.
extern "C" int compare_after_a_wait(const void*, const void*) noexcept {
  if (auto ready = await(awaited->wait().reporting_kill()); !ready) seen = ready.error();
  return 0;
}

}  // namespace

TEST_CASE("a fiber that is killed below frames of C goes back through them, and unwinds at its next wait") {
  loop lp;
  event never;
  awaited = &never;
  seen = {};
  bool came_back = false, went_on = false;
  auto h = spawn(lp, [&] {
    int two[] = {2, 1};
    std::qsort(two, 2, sizeof(int), &compare_after_a_wait);
    came_back = true;
    (void)await(within(1h, never.wait()));
    went_on = true;
  });
  while (lp.poll()) continue;
  h.kill();
  lp.run();
  CHECK(seen == errc::killed);
  CHECK(came_back);
  CHECK_FALSE(went_on);
  CHECK(h.done());
}

TEST_CASE("the budget is used up in a fiber that is killed below frames of C, and the kill is reported") {
  static event ready;
  ready.set();
  static int left = 0;
  static std::error_code got;
  struct library {
    static void calls_back() noexcept {  // as C does
      for (; left > 0; --left) {
        if (auto r = await(ready.wait().reporting_kill()); !r) got = r.error();
      }
    }
  };
  left = 600;
  got = {};
  loop lp;
  bool came_back = false;
  join_handle<> h;
  h = spawn(lp, [&] {
    h.kill();
    library::calls_back();
    came_back = true;
  });
  lp.run();
  CHECK(came_back);
  CHECK(got == errc::killed);
}
