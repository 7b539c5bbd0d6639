// What a decided group does not take: results that can stay where they are.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/coro/when_some.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/watch.hpp>
#include <hocket/time/within.hpp>

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Runs a task on a loop. What waits for `gate` ends in one turn when that is set.
struct stage {
  loop lp;
  event gate;

  template <class F, class... Args>
  void run(F body, Args... args) {
    auto whole = spawn(lp, body, args...);
    for (int i = 0; i < 10; ++i) lp.step();
    REQUIRE_FALSE(whole.done());
    gate.set();
    lp.run();
    sync_wait(whole);
  }
  task<int> gives(int n) {
    co_await or_throw(gate.wait());
    co_return n;
  }
  task<int> throws(const char* what) {
    co_await or_throw(gate.wait());
    throw std::runtime_error(what);
  }
  task<result<int>> fails() {
    co_await or_throw(gate.wait());
    co_return failure(std::errc::io_error);
  }
};

template <class T>
std::string what_of(join_handle<T>& handle) {
  try {
    static_cast<void>(sync_wait(handle));
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("a handle that loses in the turn of the winner keeps its result") {
  stage on;
  auto one = spawn(on.lp, &stage::gives, std::ref(on), 1), two = spawn(on.lp, &stage::gives, std::ref(on), 2);
  on.run([&]() -> task<> {
    auto first = co_await when_any(one, two);
    CHECK(first.index() == 0);
    CHECK(*first.template get<0>() == 1);
  });
  CHECK(sync_wait(two) == 2);
}

TEST_CASE("a handle that loses in the turn of the winner keeps its exception") {
  stage on;
  auto one = spawn(on.lp, &stage::gives, std::ref(on), 1), two = spawn(on.lp, &stage::throws, std::ref(on), "two");
  on.run([&]() -> task<> { CHECK((co_await when_any(one, two)).index() == 0); });
  CHECK(what_of(two) == "two");
}

TEST_CASE("of a range of handles those that come too late keep their results") {
  stage on;
  std::vector<join_handle<int>> all;
  for (int i = 0; i < 4; ++i) all.push_back(spawn(on.lp, &stage::gives, std::ref(on), i));
  on.run([&]() -> task<> {
    auto firsts = co_await when_some(2, all);
    CHECK(*firsts[0].value == 0);
    CHECK(*firsts[1].value == 1);
  });
  CHECK(sync_wait(all[2]) == 2);
  CHECK(sync_wait(all[3]) == 3);
}

TEST_CASE("after a failure of a group the handles that end in the same turn keep their results") {
  stage on;
  auto bad = spawn(on.lp, &stage::fails, std::ref(on));
  auto good = spawn(on.lp, &stage::gives, std::ref(on), 2);
  auto worse = spawn(on.lp, &stage::throws, std::ref(on), "worse");
  on.run([&]() -> task<> {
    auto all = co_await when_all(bad, good, worse);
    CHECK(all.error() == std::errc::io_error);
  });
  CHECK(sync_wait(good) == 2);
  CHECK(what_of(worse) == "worse");
}

TEST_CASE("a wait of a group that times out leaves the result that comes in the same turn") {
  manual_clock clock{time_point(1h)};
  loop lp({.clock = &clock});
  event gate, shut;
  auto after = [](event& opens, int n) -> task<int> {
    co_await or_throw(opens.wait());
    co_return n;
  };
  auto late = spawn(lp, after, std::ref(shut), 4), slow = spawn(lp, after, std::ref(gate), 3);
  auto whole = spawn(lp, [&]() -> task<std::error_code> {
    auto all = co_await within(10s, when_all(within(1s, late), slow));
    co_return all.error();
  });
  for (int i = 0; i < 10; ++i) lp.step();
  clock.advance(1s);
  gate.set();
  for (int i = 0; i < 10; ++i) lp.step();
  shut.set();
  lp.run();
  CHECK(sync_wait(whole) == std::errc::timed_out);
  CHECK(sync_wait(slow) == 3);
  CHECK(sync_wait(late) == 4);
}

TEST_CASE("what is made of a join leaves the result, too, and is not carried out") {
  stage on;
  std::vector<join_handle<int>> all;
  for (int i = 0; i < 6; ++i) all.push_back(spawn(on.lp, &stage::gives, std::ref(on), i));
  bool continued = false;
  on.run([&]() -> task<> {
    auto note = [&](int n) { return continued = true, n; };
    auto first = co_await when_any(all[0].join(), all[1].join(), or_throw(all[2].join()), then(all[3], note),
                                   within(1h, all[4]), select(all[5].join()));
    CHECK(first.index() == 0);
  });
  CHECK_FALSE(continued);
  for (int i = 1; i < 6; ++i) CHECK(sync_wait(all[static_cast<std::size_t>(i)]) == i);
}

TEST_CASE("a group in a group that loses leaves what it was granted in the same turn") {
  stage on;
  std::vector<join_handle<int>> all;
  for (int i = 0; i < 4; ++i) all.push_back(spawn(on.lp, &stage::gives, std::ref(on), i));
  on.run([&]() -> task<> {
    auto first = co_await when_any(all[0], when_all(all[1], all[2]), when_any(all[3]));
    CHECK(first.index() == 0);
  });
  for (int i = 1; i < 4; ++i) CHECK(sync_wait(all[static_cast<std::size_t>(i)]) == i);
}

TEST_CASE("a group whose parent is cancelled leaves what was granted before") {
  stage on;
  auto one = spawn(on.lp, &stage::gives, std::ref(on), 1), two = spawn(on.lp, &stage::gives, std::ref(on), 2);
  auto parent = spawn(on.lp, [&]() -> task<> { static_cast<void>(co_await when_all(one, two)); });
  auto cancels = spawn(on.lp, [&]() -> task<> {
    co_await or_throw(on.gate.wait());
    parent.cancel();  // both have ended, and neither of the joins has gone on
  });
  for (int i = 0; i < 10; ++i) on.lp.step();
  on.gate.set();
  on.lp.run();
  CHECK(sync_wait(parent.join()).error() == std::errc::operation_canceled);
  CHECK(sync_wait(one) == 1);
  CHECK(sync_wait(two) == 2);
}

TEST_CASE("when_all_settled takes every result") {
  stage on;
  auto one = spawn(on.lp, &stage::gives, std::ref(on), 1), two = spawn(on.lp, &stage::throws, std::ref(on), "two");
  on.run([&]() -> task<> {
    auto both = co_await when_all_settled(one, two);
    CHECK(*std::get<0>(both) == 1);
    CHECK(std::get<1>(both).kind() == outcome_kind::exception);
  });
}

TEST_CASE("a shared task that loses has not given its exception to anybody") {
  stage on;
  auto shared = [](stage& of) -> shared_task<int> { co_return co_await of.throws("shared"); };
  auto ready = shared(on);
  auto one = spawn(on.lp, &stage::gives, std::ref(on), 1);
  on.run([&]() -> task<> { CHECK((co_await when_any(one, ready, ready.wait())).index() == 0); });
  CHECK_THROWS_WITH_AS(sync_wait(ready), "shared", std::runtime_error);
}

TEST_CASE("an eager task that is given as an lvalue and loses keeps its result") {
  stage on;
  auto eager = [&](int n) -> eager_task<int> { co_return co_await on.gives(n); };
  on.run([&]() -> task<> {
    auto one = eager(1), two = eager(2), three = eager(3);
    CHECK((co_await when_any(one, two, std::move(three))).index() == 0);
    CHECK(two);
    CHECK(co_await std::move(two) == 2);
    CHECK_FALSE(three);
  });
}

TEST_CASE("a receiver that loses receives the same value later") {
  stage on;
  auto ends = make_oneshot<int>();
  watch<int> seen(0);
  broadcast<int> all(4);
  spsc_channel<int> line(4);
  auto sight = seen.subscribe();
  auto hears = all.subscribe();
  REQUIRE(sight.try_receive().has_value());
  auto first_of_all = spawn(on.lp, [&]() -> task<int> {
    co_await or_throw(on.gate.wait());
    ends.sender.send(1);
    seen.set(2);
    all.send(3);
    CHECK(line.try_send(4).has_value());
    co_return 0;
  });
  on.run([&]() -> task<> {
    auto first =
        co_await when_any(on.gate.wait(), ends.receiver.receive(), sight.receive(), hears.receive(), line.receive());
    CHECK(first.index() == 0);
    CHECK(*co_await ends.receiver.receive() == 1);
    CHECK(*co_await sight.receive() == 2);
    CHECK(*co_await hears.receive() == 3);
    CHECK(*co_await line.receive() == 4);
  });
}

TEST_CASE("a join that is possible, but lets others run first, keeps its result if one of them wins") {
  stage on;
  auto one = spawn(on.lp, &stage::gives, std::ref(on), 1);
  on.run([&]() -> task<> {
    co_await or_throw(on.gate.wait());
    while (!one.done()) co_await yield();
    auto wins = []() -> task<int> { co_return 0; };
    detail::this_thread().clock_reads = detail::clock_reads_per_budget;
    detail::this_thread().spent = 255;  // the next operation is the 256th
    CHECK((co_await when_any(wins(), one)).index() == 0);
  });
  CHECK(sync_wait(one) == 1);
}

TEST_CASE("an exception of a loser whose handle was given away goes where that of a dropped handle does") {
  static int unhandled;
  unhandled = 0;
  loop lp({.on_unhandled = [](std::exception_ptr, const context&) noexcept { ++unhandled; }});
  event gate;
  auto gives = [&]() -> task<int> {
    co_await or_throw(gate.wait());
    co_return 1;
  };
  auto throws = [&]() -> task<int> {
    co_await or_throw(gate.wait());
    throw std::runtime_error("nobody asks");
  };
  auto whole = spawn(lp, [&]() -> task<> { CHECK((co_await when_any(spawn(gives), spawn(throws))).index() == 0); });
  for (int i = 0; i < 10; ++i) lp.step();
  gate.set();
  lp.run();
  CHECK(unhandled == 1);
}
