// Hibernation of scheduled fibers: when they are packed, and what keeps a stack where it is. That every primitive works
// with fibers that hibernate at each wait: the suites, with the kind packed_fibers.
#include <hocket/base/clock.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/or_throw.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr bool works = !detail::machine::fibers_are_threads;

struct hibernation {
  manual_clock clock{time_point(1h)};
  loop lp{{.clock = &clock}};

  void settle() {
    while (lp.step()) {
    }
  }
  void pass(duration time) {
    clock.advance(time);
    settle();
  }
  static std::size_t packed() { return hibernation_usage().packed; }
};

// AddressSanitizer keeps variables elsewhere, where they stay.
const doctest::skip where_they_stand(detail::sanitizer == detail::sanitizer_kind::asan);

struct witness {
  std::string* log;
  ~witness() { *log += "gone"; }
};

}  // namespace

TEST_CASE_FIXTURE(hibernation, "a fiber that waits for long is packed, and comes back when it is woken") {
  event go;
  std::string told;
  auto h = spawn(lp, {.hibernate_after = 10s}, [&] {
    std::string text = "something that is too long for the small buffer";
    REQUIRE(await(go.wait()));
    told = text;
  });
  settle();
  pass(9s);
  CHECK(packed() == 0);
  pass(1s);  // it is seen to wait
  CHECK(packed() == 0);
  pass(10s);  // and still
  CHECK(packed() == works);
  pass(1000s);
  CHECK(packed() == works);
  go.set();
  settle();
  CHECK(packed() == 0);
  CHECK(told == "something that is too long for the small buffer");
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "very many are packed in slices, so that the loop is not held up") {
  constexpr std::size_t count = 700;
  event go;
  std::size_t ended = 0;
  for (std::size_t i = 0; i < count; ++i)
    spawn(lp, {.hibernate_after = 1s}, [&] {
      REQUIRE(await(go.wait()));
      ++ended;
    });
  settle();
  pass(1s);
  for (int i = 0; i < 3; ++i) pass(2ms);  // all have been seen to wait
  CHECK(packed() == 0);
  pass(1s - 6ms);
  for (int i = 0; i < 10 && packed() == 0; ++i) pass(2ms);
  CHECK(packed() == 256 * works);
  pass(2ms);
  CHECK(packed() == 512 * works);
  pass(2ms);
  CHECK(packed() == count * works);
  go.set();
  settle();
  CHECK(packed() == 0);
  CHECK(ended == count);
}

TEST_CASE_FIXTURE(hibernation, "a fiber that runs now and then is not packed") {
  semaphore ticks{0};
  auto h = spawn(lp, {.hibernate_after = 10s}, [&] {
    for (int i = 0; i < 20; ++i) REQUIRE(await(ticks.acquire()));
  });
  settle();
  for (int i = 0; i < 20; ++i) {
    pass(9s);
    CHECK(packed() == 0);
    ticks.release();
    settle();
  }
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "a deadline brings a packed fiber back") {
  event never;
  std::error_code how;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    auto got = await(within(1h, never.wait()));
    how = got.error();
  });
  settle();
  pass(1s);
  pass(1s);
  CHECK(packed() == works);
  pass(1h);
  CHECK(how == std::errc::timed_out);
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "killed while it is packed, it unwinds") {
  event never;
  std::string log;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    witness last{&log};
    static_cast<void>(await(never.wait()));
  });
  settle();
  CHECK(hibernate_parked() == works);
  CHECK(log.empty());
  h.kill();
  settle();
  CHECK(log == "gone");
  CHECK(packed() == 0);
}

TEST_CASE("a loop that is destroyed unwinds the fibers that are packed") {
  std::string log;
  event never;
  {
    loop lp;
    for (int i = 0; i < 3; ++i)
      spawn(lp, {.hibernate_after = 1h}, [&] {
        witness last{&log};
        static_cast<void>(await(never.wait()));
      });
    while (lp.step()) {
    }
    CHECK(hibernate_parked() == (works ? 3 : 0));
  }
  CHECK(log == "gonegonegone");
  CHECK(hibernation_usage().packed == 0);
}

TEST_CASE_FIXTURE(hibernation, "only fibers that were spawned so hibernate") {
  event go;
  spawn(lp, [&] { static_cast<void>(await(go.wait())); });
  settle();
  CHECK(hibernate_parked() == 0);
  pass(1000h);
  CHECK(packed() == 0);
  go.set();
  settle();
}

TEST_CASE_FIXTURE(hibernation,
                  "a fiber that waits for a local of its own stays where it is for that wait" * where_they_stand) {
  event go;
  event* local = nullptr;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    event mine;
    local = &mine;
    REQUIRE(await(mine.wait()));
    REQUIRE(await(go.wait()));
  });
  settle();
  CHECK(hibernate_parked() == 0);
  pass(10s);
  CHECK(packed() == 0);
  local->set();
  settle();
  CHECK(hibernate_parked() == works);
  go.set();
  settle();
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "a fiber with a scope stays where it is while the scope lives" * where_they_stand) {
  event go, later;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    {
      scope children;
      spawn(children, [&] { REQUIRE(await(go.wait())); });
      REQUIRE(await(later.wait()));
    }
    later.reset();
    REQUIRE(await(later.wait()));
  });
  settle();
  CHECK(hibernate_parked() == 0);
  later.set();
  settle();
  CHECK(hibernate_parked() == 0);  // in the scope's destructor
  go.set();
  settle();
  CHECK(hibernate_parked() == works);
  later.set();
  settle();
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "adaptors of a wait are looked through" * where_they_stand) {
  event go;
  event* local = nullptr;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    event mine;
    local = &mine;
    await(or_throw(mine.wait()));
    await(or_throw(go.wait()));
    REQUIRE(await(within(1h, mine.wait())));
    mine.reset();
    REQUIRE_FALSE(await(within(1s, mine.wait())));
  });
  settle();
  CHECK(hibernate_parked() == 0);
  local->set();
  settle();
  CHECK(hibernate_parked() == works);
  go.set();
  settle();
  CHECK(hibernate_parked() == 0);
  pass(2s);
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "a fiber that awaits a task, which may refer to its locals, stays where it is") {
  event go;
  auto fill = [&](int& out) -> task<> {
    REQUIRE(co_await go.wait());
    out = 42;
  };
  int got = 0;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    int own = 0;
    await(fill(own));
    got = own;
  });
  settle();
  CHECK(hibernate_parked() == 0);
  go.set();
  settle();
  CHECK(got == 42);
}

TEST_CASE_FIXTURE(hibernation, "the shortest time there is does not keep the loop awake") {
  event go;
  auto h = spawn(lp, {.hibernate_after = duration::zero()}, [&] { REQUIRE(await(go.wait())); });
  settle();
  pass(1ms);
  pass(1ms);
  CHECK(packed() == works);
  go.set();
  settle();
}

TEST_CASE_FIXTURE(hibernation, "a packed fiber goes on with the result of a task, and its exception") {
  event go;
  auto work = [&](int n) -> task<int> {
    REQUIRE(co_await go.wait());
    if (n == 0) throw std::runtime_error("zero");
    co_return n + 1;
  };
  int got = 0;
  bool threw = false;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    got = await(work(4));
    go.reset();
    try {
      await(work(0));
    } catch (const std::runtime_error&) {
      threw = true;
    }
  });
  settle();
  CHECK(hibernate_parked() == 0);
  go.set();
  settle();
  CHECK(got == 5);
  go.set();
  settle();
  CHECK(threw);
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "a fiber that waits in a call on another stack is left alone") {
  event go;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    call_on_big_stack([&] { REQUIRE(await(go.wait())); });
    go.reset();
    REQUIRE(await(go.wait()));
  });
  settle();
  CHECK(hibernate_parked() == 0);
  go.set();
  settle();
  CHECK(hibernate_parked() == works);
  go.set();
  settle();
  CHECK(h.done());
}

TEST_CASE_FIXTURE(hibernation, "each time has its own group, and a group ends with its last fiber") {
  event go;
  for (auto after : {1s, 5s, 1s}) spawn(lp, {.hibernate_after = after}, [&] { REQUIRE(await(go.wait())); });
  settle();
  pass(1s);
  pass(1s);
  CHECK(packed() == (works ? 2 : 0));
  for (int i = 0; i < 10; ++i) pass(1s);
  CHECK(packed() == (works ? 3 : 0));
  go.set();
  settle();
  CHECK(lp.live() == 0);
  spawn(lp, {.hibernate_after = 1s}, [&] {});
  settle();
}

TEST_CASE_FIXTURE(hibernation, "a yield and a join of a packed fiber") {
  event go;
  int answer = 0;
  auto h = spawn(lp, {.hibernate_after = 1s}, [&] {
    auto child = spawn([&] {
      REQUIRE(await(go.wait()));
      return 42;
    });
    await(yield());
    answer = await(child.join()).value();
  });
  settle();
  CHECK(hibernate_parked() == works);
  go.set();
  settle();
  CHECK(answer == 42);
}
