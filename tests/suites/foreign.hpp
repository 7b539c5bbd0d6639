// Foreign awaitables, for tasks and fibers on a loop: those that resume a bare handle, when and where they like.
#pragma once
#include "suites/loop_kinds.hpp"
#include "support/death.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <thread>

namespace hocket_test {

// Calls `suspend` with the handle, which is then the only one that knows it.
class foreign {
 public:
  using call = std::function<void(std::coroutine_handle<>)>;
  explicit foreign(call suspend) : suspend_(std::move(suspend)) {}
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { suspend_(handle); }
  static int await_resume() noexcept { return 7; }

 private:
  call suspend_;
};

struct foreign_bool {
  bool stays;
  static bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<>) const noexcept { return stays; }
  static int await_resume() noexcept { return 8; }
};

struct foreign_transfer {
  static bool await_ready() noexcept { return false; }
  static std::coroutine_handle<> await_suspend(std::coroutine_handle<> handle) noexcept { return handle; }
  static int await_resume() noexcept { return 9; }
};

// Resumes on a thread of its own, which has ended before (`joined`) or may still run after await_suspend has returned.
inline foreign on_another_thread(std::thread& other, bool joined) {
  return foreign([&other, joined](std::coroutine_handle<> handle) {
    std::thread resumes([handle] { handle.resume(); });
    if (joined) resumes.join();
    else other = std::move(resumes);
  });
}

TEST_CASE_TEMPLATE("a foreign awaitable resumes inline, and the coroutine goes on from its loop", Kind,
                   HOCKET_SUITE_KINDS) {
  Kind world;
  int got = 0;
  bool inside = false;
  auto body = [&]() -> typename Kind::body {
    const auto* mine = &hocket::current_context();
    auto resume = [&](std::coroutine_handle<> handle) {
      inside = true;
      handle.resume();
      inside = false;
    };
    foreign inline_resume(resume);
    got = co_await inline_resume;
    CHECK_FALSE(inside);
    CHECK(mine == &hocket::current_context());
  };
  int id = world.start(body);
  world.settle();
  CHECK(got == 7);
  CHECK(world.ended(id) == fate::ended);
}

TEST_CASE_TEMPLATE("a foreign awaitable resumes later: that posts, the loop runs", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  std::coroutine_handle<> kept;
  int got = 0;
  auto body = [&]() -> typename Kind::body {
    foreign later([&](std::coroutine_handle<> who) { kept = who; });
    got = co_await later;
  };
  int id = world.start(body);
  world.settle();
  kept.resume();
  CHECK(got == 0);
  CHECK(world.ended(id) == fate::running);
  world.settle();
  CHECK(got == 7);
}

TEST_CASE_TEMPLATE("fault 25: another thread resumes before await_suspend has returned", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  auto body = [&]() -> typename Kind::body {
    const auto here = std::this_thread::get_id();
    std::thread none;
    for (int i = 0; i < 200; ++i) {
      foreign elsewhere = on_another_thread(none, true);
      int got = co_await elsewhere;
      CHECK(got == 7);
      CHECK(here == std::this_thread::get_id());
    }
  };
  int id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
}

TEST_CASE_TEMPLATE("fault 25: another thread resumes while await_suspend returns", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  auto body = [&]() -> typename Kind::body {
    const auto here = std::this_thread::get_id();
    for (int i = 0; i < 500; ++i) {
      std::thread other;
      foreign elsewhere = on_another_thread(other, false);
      int got = co_await elsewhere;
      other.join();
      CHECK(got == 7);
      CHECK(here == std::this_thread::get_id());
    }
  };
  int id = world.start(body);
  while (world.ended(id) == fate::running) world.settle();
  CHECK(world.ended(id) == fate::ended);
}

TEST_CASE_TEMPLATE("every answer of a foreign await_suspend is understood", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  auto body = [&]() -> typename Kind::body {
    foreign_bool no{false};
    int first = co_await no;
    CHECK(first == 8);
    foreign_transfer back;
    int second = co_await back;
    CHECK(second == 9);
    foreign refuses([](std::coroutine_handle<>) { throw std::runtime_error("not now"); });
    bool thrown = false;
    try {
      (void)co_await refuses;
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    CHECK(thrown);
  };
  int id = world.start(body);
  world.settle();
  CHECK(world.ended(id) == fate::ended);
}

TEST_CASE_TEMPLATE("many foreign awaits that go straight on take no stack", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  int sum = 0;
  auto body = [&]() -> typename Kind::body {
    foreign_bool no{false};
    foreign_transfer back;
    for (int i = 0; i < 100'000; ++i) sum += co_await no;
    for (int i = 0; i < 100'000; ++i) sum += co_await back;
  };
  world.start(body);
  world.settle();
  CHECK(sum == 1'700'000);
}

TEST_CASE_TEMPLATE("a coroutine that only ever waits for foreign awaitables can be killed", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  std::coroutine_handle<> kept;
  auto body = [&]() -> typename Kind::body {
    foreign later([&](std::coroutine_handle<> who) { kept = who; });
    for (;;) (void)co_await later;
  };
  int id = world.start(body);
  world.settle();
  world.kill(id);
  kept.resume();
  world.settle();
  CHECK(world.ended(id) == fate::killed);
}

TEST_CASE_TEMPLATE("a foreign awaitable that resumes and then does not suspend is fatal", Kind, HOCKET_SUITE_KINDS) {
  auto both = [] {
    Kind world;
    auto body = [&]() -> typename Kind::body {
      foreign liar([](std::coroutine_handle<> handle) {
        handle.resume();
        throw std::runtime_error("never mind");
      });
      (void)co_await liar;
    };
    world.start(body);
    world.settle();
  };
  expect_fatal(both, "resumed a coroutine twice");
}

TEST_CASE_TEMPLATE("a kill takes effect at the wait after a foreign one", Kind, HOCKET_SUITE_KINDS) {
  Kind world;
  std::coroutine_handle<> kept;
  bool between = false;
  auto body = [&]() -> typename Kind::body {
    foreign later([&](std::coroutine_handle<> who) { kept = who; });
    (void)co_await later;
    between = true;
    co_await hocket::yield();
    CHECK(false);
  };
  int id = world.start(body);
  world.settle();
  world.kill(id);
  world.settle();
  CHECK(world.ended(id) == fate::running);
  kept.resume();
  world.settle();
  CHECK(between);
  CHECK(world.ended(id) == fate::killed);
}

TEST_CASE_TEMPLATE("a foreign awaitable that resumes twice is fatal", Kind, HOCKET_SUITE_KINDS) {
  auto twice = [] {
    Kind world;
    auto body = [&]() -> typename Kind::body {
      foreign eager([](std::coroutine_handle<> handle) {
        handle.resume();
        handle.resume();
      });
      (void)co_await eager;
    };
    world.start(body);
    world.settle();
  };
  expect_fatal(twice, "resumed a coroutine twice");
}

TEST_CASE_TEMPLATE("a second resume is fatal also later, while the coroutine has not gone on", Kind,
                   HOCKET_SUITE_KINDS) {
  auto resume = [](std::coroutine_handle<> handle) { handle.resume(); };
  auto on_a_thread = [](std::coroutine_handle<> handle) { std::thread([handle] { handle.resume(); }).join(); };
  auto later_twice = [](auto first, auto second) {
    return [first, second] {
      Kind world;
      std::coroutine_handle<> kept;
      auto body = [&]() -> typename Kind::body {
        foreign later([&](std::coroutine_handle<> who) { kept = who; });
        (void)co_await later;
      };
      world.start(body);
      world.settle();
      first(kept);
      second(kept);
    };
  };
  expect_fatal(later_twice(resume, resume), "resumed a coroutine twice");
  expect_fatal(later_twice(on_a_thread, on_a_thread), "resumed a coroutine twice");
  expect_fatal(later_twice(on_a_thread, resume), "resumed a coroutine twice");
}

TEST_CASE_TEMPLATE("so is one later after one inside of await_suspend", Kind, HOCKET_SUITE_KINDS) {
  auto inline_and_later = [] {
    Kind world;
    std::coroutine_handle<> kept;
    auto waits = [&]() -> typename Kind::body {
      foreign eager([&](std::coroutine_handle<> who) {
        kept = who;
        who.resume();
      });
      (void)co_await eager;
    };
    auto again = [&]() -> typename Kind::body {  // has its turn before the other one goes on
      kept.resume();
      co_return;
    };
    world.start(waits);
    world.start(again);
    world.settle();
  };
  expect_fatal(inline_and_later, "resumed a coroutine twice");
}

TEST_CASE_TEMPLATE("a loop that ends under a foreign wait says whose", Kind, HOCKET_SUITE_KINDS) {
  auto never = [] {
    Kind world({.name = "forgotten"});
    auto body = [&]() -> typename Kind::body {
      foreign silent([](std::coroutine_handle<>) {});
      (void)co_await silent;
    };
    world.start(body);
    world.settle();
    world.end();
  };
  expect_fatal(never, "forgotten");
}

}  // namespace hocket_test
