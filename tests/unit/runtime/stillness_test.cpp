// What a dump says where all wait and nothing is there that could wake them; and what the end of a loop or a runtime
// says of coroutines that wait for one another.
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>

#include "support/readiness_driver.hpp"
#include "support/runtime_look.hpp"
#include "unit/runtime/dump_table.hpp"
#include "unit/runtime/wire.hpp"

#include <doctest/doctest.h>
#include <mutex>
#include <string>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr int tries = 20;  // the machine may give a worker no time to stand still

task<> wait_for(event& bell) { [[maybe_unused]] auto set = co_await bell.wait(); }
task<> join(join_handle<void>& other) { [[maybe_unused]] auto joined = co_await other.join(); }

std::string still(int many) {
  return std::string("nothing here will wake them: ")
      .append(std::to_string(many))
      .append(" wait for one another, or for a thread outside\n");
}

// Collects what is noticed.
struct notices {
  static inline std::mutex guard;
  static inline std::string text;
  log_handler before = set_log_handler([](const char* said) noexcept {
    std::lock_guard held(guard);
    text += said;
    text += '\n';
  });
  notices() { text.clear(); }
  notices(const notices&) = delete;
  notices& operator=(const notices&) = delete;
  ~notices() { set_log_handler(before); }
};

// Two that join each other, once both have begun.
struct circle {
  event both;
  join_handle<void> one, two;

  template <class Where>
  void begin(Where& where) {
    one = spawn(where, {.name = "one"}, wait_and_join, std::ref(both), std::ref(two));
    two = spawn(where, {.name = "two"}, wait_and_join, std::ref(both), std::ref(one));
    both.set();
  }
  static task<> wait_and_join(event& both, join_handle<void>& other) {
    [[maybe_unused]] auto there = co_await both.wait();
    [[maybe_unused]] auto joined = co_await other.join();
  }
};

}  // namespace

TEST_CASE("where all wait, and no timer is set, a loop's dump says so") {
  loop lp;
  event bell;
  auto last = spawn(lp, wait_for, std::ref(bell));
  auto first = spawn(lp, join, std::ref(last));
  CHECK_FALSE(holds(dump_text(lp), "nothing here"));  // they have not begun
  step_until_quiet(lp);
  CHECK(holds(dump_text(lp), still(2)));
  auto fresh = spawn(lp, wait_for, std::ref(bell));
  CHECK_FALSE(holds(dump_text(lp), "nothing here"));
  step_until_quiet(lp);
  CHECK(holds(dump_text(lp), still(3)));
  bell.set();
  CHECK_FALSE(holds(dump_text(lp), "nothing here"));  // they are ready
  lp.run();
}

TEST_CASE("a timer, a coroutine that runs, and a driver may wake somebody") {
  manual_clock time;
  loop lp({.clock = &time});
  event bell;
  auto waits = spawn(lp, wait_for, std::ref(bell));
  auto sleeps = spawn(lp, []() -> task<> { [[maybe_unused]] auto slept = co_await sleep_for(1h); });
  step_until_quiet(lp);
  CHECK_FALSE(holds(dump_text(lp), "nothing here"));
  sleeps.cancel();
  step_until_quiet(lp);
  CHECK(holds(dump_text(lp), still(1)));
  std::string seen;
  auto looks = spawn(lp, [&]() -> task<> {
    seen = dump_text(lp);
    co_return;
  });
  step_until_quiet(lp);
  CHECK(holds(seen, "(1 running"));
  CHECK_FALSE(holds(seen, "nothing here"));
  bell.set();
  lp.run();
  event never;
  readiness_drivers kind;
  loop driven;
  kind.on(driven);
  auto idle = spawn(driven, wait_for, std::ref(never));
  step_until_quiet(driven);
  CHECK(holds(dump_text(driven), still(1)));  // nobody waits at the driver
  wire line;
  auto reads = spawn(driven, [&]() -> task<> { [[maybe_unused]] auto ready = co_await readable(line.fd()); });
  step_until_quiet(driven);
  CHECK(holds(dump_text(driven), "2 waiting"));
  CHECK_FALSE(holds(dump_text(driven), "nothing here"));
}

TEST_CASE("a runtime's dump says so when all of its workers have nothing") {
  event bell;
  std::string text;
  hocket::runtime rt({.workers = 2});
  spawn(rt, wait_for, std::ref(bell));
  spawn(rt, wait_for, std::ref(bell));
  detail::runtime_look::wait_until_asleep(rt);
  for (int i = 0; i < tries && !holds(text, still(2)); ++i) text = dump_text(rt);
  CHECK(holds(text, still(2)));
  auto sleeps = spawn(rt, []() -> task<> { [[maybe_unused]] auto slept = co_await sleep_for(1h); });
  detail::runtime_look::wait_until_asleep(rt);
  CHECK_FALSE(holds(dump_text(rt), "nothing here"));
  bell.set();
}

TEST_CASE("a shutdown tells of a circle before a cancellation breaks it, and of nothing else then") {
  event never;
  std::string text;
  for (int i = 0; i < tries && text.empty(); ++i) {
    circle stuck;
    hocket::runtime rt({.workers = 2, .name = "shop"});
    stuck.begin(rt);
    spawn(rt, {.name = "idle"}, wait_for, std::ref(never));
    detail::runtime_look::wait_until_asleep(rt);
    const memory_file report;
    CHECK(rt.shutdown({.cancel = 1h, .report = report.fd}).cancelled == 3);
    text = report.text();
  }
  CHECK(holds(text, "runtime \"shop\": 3 live\n"));
  CHECK(holds(text, "the end of a coroutine \"two\"\n"));
  CHECK(holds(text, "deadlock: they wait for one another, 2 in a circle\n"));
  CHECK(holds(text, "\"one\" waits for the end of a coroutine, which needs \"two\"\n"));
  CHECK(holds(text, "\"two\" waits for the end of a coroutine, which needs \"one\"\n"));
  hocket::runtime rt({.workers = 2});
  spawn(rt, wait_for, std::ref(never));
  const memory_file report;
  CHECK(rt.shutdown({.cancel = 1h, .report = report.fd}).cancelled == 1);
  CHECK(report.text() == "");
}

TEST_CASE("the end of a loop tells of its circles" * doctest::skip(!detail::debug_checks)) {
  notices heard;
  event never;
  circle stuck;
  join_handle<void> idle;
  {
    loop lp({.name = "shop"});
    stuck.begin(lp);
    idle = spawn(lp, {.name = "idle"}, wait_for, std::ref(never));
    spawn(lp, {.name = "beside"}, join, std::ref(idle));
    step_until_quiet(lp);
  }
  const std::string begin = "deadlock at the end of loop \"shop\": ";
  CHECK(holds(heard.text, begin + "\"one\" waits for the end of a coroutine, which needs \"two\"\n"));
  CHECK(holds(heard.text, begin + "\"two\" waits for the end of a coroutine, which needs \"one\"\n"));
  CHECK_FALSE(holds(heard.text, "beside"));
}

TEST_CASE("the end of a runtime tells of its circles" * doctest::skip(!detail::debug_checks)) {
  notices heard;
  for (int i = 0; i < tries && heard.text.empty(); ++i) {
    circle stuck;
    hocket::runtime rt({.workers = 2, .name = "shop"});
    stuck.begin(rt);
    detail::runtime_look::wait_until_asleep(rt);
  }
  CHECK(holds(heard.text,
              "deadlock at the end of runtime \"shop\": \"one\" waits for the end of a coroutine, which "
              "needs \"two\"\n"));
}
