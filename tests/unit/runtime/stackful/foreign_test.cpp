// Foreign awaitables: those that resume a bare handle, when and where they like.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/run.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

// Calls `suspend` with the handle, which is then the only one that knows it.
struct foreign {
  std::function<void(std::coroutine_handle<>)> suspend;
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { suspend(handle); }
  static int await_resume() noexcept { return 7; }
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

}  // namespace

TEST_CASE("a foreign awaitable resumes the fiber inline, and it goes on from its loop") {
  auto body = [] {
    const auto* mine = &current_context();
    int got = await(foreign{[](std::coroutine_handle<> handle) { handle.resume(); }});
    CHECK(mine == &current_context());
    return got;
  };
  CHECK(run(body) == 7);
}

TEST_CASE("a foreign awaitable resumes the fiber later") {
  loop lp;
  std::coroutine_handle<> kept;
  auto handle = spawn(lp, [&] { return await(foreign{[&](std::coroutine_handle<> who) { kept = who; }}); });
  lp.step();
  CHECK_FALSE(handle.done());
  kept.resume();
  CHECK_FALSE(handle.done());  // posted, not run
  lp.run();
  CHECK(sync_wait(handle) == 7);
}

TEST_CASE("fault 25: another thread resumes the fiber before await_suspend has returned") {
  auto body = [] {
    const auto here = std::this_thread::get_id();
    for (int i = 0; i < 200; ++i) {
      int got = await(foreign{[](std::coroutine_handle<> handle) {
        std::thread other([handle] { handle.resume(); });
        other.join();  // it has resumed, and all its traces are gone, before we return
      }});
      CHECK(got == 7);
      CHECK(here == std::this_thread::get_id());
    }
  };
  run(body);
}

TEST_CASE("fault 25: another thread resumes the fiber while await_suspend returns") {
  auto body = [] {
    for (int i = 0; i < 2000; ++i) {
      std::thread other;
      int got =
          await(foreign{[&](std::coroutine_handle<> handle) { other = std::thread([handle] { handle.resume(); }); }});
      other.join();
      CHECK(got == 7);
    }
  };
  run(body);
}

TEST_CASE("every answer of a foreign await_suspend is understood") {
  CHECK(run([] { return await(foreign_bool{false}); }) == 8);
  CHECK(run([] { return await(foreign_transfer{}); }) == 9);
  auto thrown = [] { return await(foreign{[](std::coroutine_handle<>) { throw std::runtime_error("not now"); }}); };
  CHECK_THROWS_WITH_AS(run(thrown), "not now", std::runtime_error);
}

TEST_CASE("a foreign awaitable that resumes twice is fatal") {
  auto twice = [] {
    run([] {
      await(foreign{[](std::coroutine_handle<> handle) {
        handle.resume();
        handle.resume();
      }});
    });
  };
  expect_fatal(twice, "resumed a coroutine twice");
}

TEST_CASE("a loop that ends while a fiber waits for a foreign awaitable says which") {
  auto never = [] {
    loop lp;
    spawn(lp, {.name = "forgotten"}, [] { await(foreign{[](std::coroutine_handle<>) {}}); });
    lp.step();
  };
  expect_fatal(never, "forgotten");
}

TEST_CASE("a plain thread awaits a foreign awaitable") {
  std::thread other;
  int got = await(foreign{[&](std::coroutine_handle<> handle) { other = std::thread([handle] { handle.resume(); }); }});
  other.join();
  CHECK(got == 7);
}
