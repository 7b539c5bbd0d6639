// Forked children that run as calls: what happens when one of them leaves, at every depth.
#include <hocket/core/observer.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

constexpr int depths[] = {0, 1, 2, 255, 256, 257, 1000, 100'000};

// Notes the coroutine that awaits it, and the transfers that it has left.
struct note_budget : detail::own_awaiter {
  std::coroutine_handle<> who{};
  int budget = -1;

  static constexpr bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> self) noexcept {
    who = self;
    budget = now();
    return false;
  }
  static void await_resume() noexcept {}
  int now() const noexcept { return detail::header_of(who).budget; }
};

task<int> number(int n) { co_return n; }

// Calls `bottom` below so many nested groups. Each group has a second child.
template <class Bottom>
task<int> below(int depth, Bottom& bottom) {
  if (depth == 0) co_return co_await bottom();
  auto [a, b] = co_await fork_join(below(depth - 1, bottom), number(1));
  co_return a + b;
}

// At each depth on one worker and on several. `act(handle)` is called by the test's thread when that is at the bottom.
template <class Bottom, class Check>
void at_each_depth(Bottom make, Check check) {
  for (const int depth : depths) {
    CAPTURE(depth);
    for (const std::size_t workers : {std::size_t{1}, std::size_t{4}}) {
      CAPTURE(workers);
      runtime rt({.workers = workers});
      auto bottom = make();
      check(rt, [depth, &bottom]() -> task<int> { return below(depth, *bottom); }, *bottom, depth);
    }
  }
}

}  // namespace

TEST_SUITE_BEGIN("runtime/fork calls");

TEST_CASE("a child that waits at the bottom of many groups lets them go on when it is woken") {
  struct waits {
    event bell;
    std::atomic<bool> there{false};
    task<int> operator()() {
      there = true;
      auto got = co_await bell.wait();
      co_return got ? 0 : -1'000'000;
    }
  };
  at_each_depth([] { return std::make_unique<waits>(); },
                [](runtime& rt, auto body, waits& bottom, int depth) {
                  auto handle = spawn(rt, body);
                  while (!bottom.there) std::this_thread::yield();
                  bottom.bell.set();
                  CHECK(sync_wait(std::move(handle)) == depth);
                });
}

TEST_CASE("an exception comes out of many groups, the same object") {
  struct fails {
    std::runtime_error* thrown = nullptr;
    task<int> operator()() {
      try {
        throw std::runtime_error("bottom");
      } catch (std::runtime_error& error) {
        thrown = &error;
        throw;
      }
      co_return 0;
    }
  };
  at_each_depth([] { return std::make_unique<fails>(); },
                [](runtime& rt, auto body, fails& bottom, int) {
                  try {
                    sync_wait(spawn(rt, body));
                    FAIL("nothing was thrown");
                  } catch (const std::runtime_error& error) {
                    CHECK(&error == bottom.thrown);
                  }
                });
}

TEST_CASE("a kill at the bottom of many groups unwinds them") {
  struct waits {
    event never;
    std::atomic<bool> there{false}, unwound{false};
    task<int> operator()() {
      struct note {
        std::atomic<bool>& to;
        ~note() { to = true; }
      } here{unwound};
      there = true;
      static_cast<void>(co_await never.wait());
      co_return 0;
    }
  };
  at_each_depth([] { return std::make_unique<waits>(); },
                [](runtime& rt, auto body, waits& bottom, int) {
                  auto handle = spawn(rt, body);
                  while (!bottom.there) std::this_thread::yield();
                  handle.kill();
                  while (!handle.done()) std::this_thread::yield();
                  CHECK(bottom.unwound);
                });
}

TEST_CASE("a child may cancel all that it is a child of") {
  struct cancels {
    event never;
    std::atomic<join_handle<int>*> whole{nullptr};
    task<int> operator()() {
      while (!whole) co_await yield();
      whole.load()->cancel();
      auto got = co_await never.wait();
      co_return got ? -1'000'000 : 0;
    }
  };
  at_each_depth([] { return std::make_unique<cancels>(); },
                [](runtime& rt, auto body, cancels& bottom, int depth) {
                  auto handle = spawn(rt, body);
                  bottom.whole = &handle;
                  while (!handle.done()) std::this_thread::yield();
                  CHECK(sync_wait(std::move(handle)) == depth);
                });
}

TEST_CASE("a child whose rest is stolen at each depth ends as a branch") {
  for (const int depth : {1, 10, 300}) {
    CAPTURE(depth);
    runtime rt({.workers = 4});
    std::atomic<int> taken{0};
    auto takes = [&]() -> task<int> {
      ++taken;
      co_return 1;
    };
    // Spins at the bottom until the rests above have been taken by others.
    struct bottom {
      std::atomic<int>& taken;
      int all;
      task<int> operator()() {
        while (taken < all) std::this_thread::yield();
        co_return 0;
      }
    } last{taken, depth};
    auto each = [&](auto& self, int left) -> task<int> {
      if (left == 0) co_return co_await last();
      auto [a, b] = co_await fork_join(self(self, left - 1), takes());
      co_return a + b;
    };
    CHECK(sync_wait(spawn(rt, [&]() -> task<int> { return each(each, depth); })) == depth);
  }
}

TEST_CASE("a child that ends early by or_return leaves by a failure, before its parent goes on") {
  auto fails = []() -> task<result<int>> { co_return failure(std::errc::invalid_argument); };
  struct note {
    int& left;
    ~note() {
      if (detail::leaving_by_failure()) --left;
    }
  };
  int locals = 0;
  auto child = [&]() -> task<result<int>> {
    ++locals;
    note here{locals};
    const int got = co_await or_return(fails());
    co_return got;
  };
  auto inner = [&]() -> task<int> {
    auto [a, b] = co_await fork_join(child(), child());
    CHECK(locals == 0);
    CHECK(b.error() == std::errc::invalid_argument);
    co_return a.error() == std::errc::invalid_argument ? 1 : 0;
  };
  runtime alone({.workers = 1});
  const int got = sync_wait(spawn(alone, [&]() -> task<int> {
    auto [a, b] = co_await fork_join(inner(), inner());
    co_return a + b;
  }));
  CHECK(got == 2);
}

TEST_CASE("in a when_all a group begins when its turn has come, under a context of its own") {
  struct look : detail::own_awaiter {
    bool forks = false;
    bool await_ready() {
      forks = current_context().forks();
      return true;
    }
    static void await_suspend(std::coroutine_handle<>) noexcept {}
    static int await_resume() noexcept { return 0; }
  };
  std::atomic<int> ran{0};
  auto counts = [&]() -> task<int> {
    ++ran;
    co_return 1;
  };
  runtime alone({.workers = 1});
  sync_wait(spawn(alone, [&]() -> task<> {
    look beside;
    auto both = fork_join(counts(), counts());
    static_cast<void>(co_await when_all(both, beside));
    CHECK_FALSE(beside.forks);
    CHECK(ran == 2);
    auto late = fork_join([&] { return counts(); }, [&] { return counts(); });
    static_cast<void>(co_await when_any(late, beside));  // decided before the group has begun
    CHECK(ran == 2);
  }));
}

TEST_CASE("children that have not begun when one has failed are dropped") {
  runtime alone({.workers = 1});
  auto fails = []() -> task<int> {
    throw std::runtime_error("no");
    co_return 0;
  };
  sync_wait(spawn(alone, [&]() -> task<> {
    auto pair = fork_join(fails(), number(1));
    CHECK_THROWS_AS(static_cast<void>(co_await pair), std::runtime_error);
    std::vector<task<int>> all;
    all.push_back(fails());
    all.push_back(number(1));
    auto row = fork_join(std::move(all));
    CHECK_THROWS_AS(static_cast<void>(co_await row), std::runtime_error);
  }));
}

TEST_CASE("a child that failed is not taken for a later one in its place") {
  runtime alone({.workers = 1});
  auto child = [](bool fails) -> task<int> {
    if (fails) throw std::runtime_error("no");
    co_return 1;
  };
  auto apart = [&]() -> eager_task<int> {
    auto [a, b] = co_await fork_join([&] { return child(false); }, [&] { return child(false); });
    co_return a + b;
  };
  auto parent = [&]() -> task<int> {
    bool caught = false;
    try {
      static_cast<void>(co_await fork_join([&] { return child(true); }, [&] { return child(true); }));
    } catch (const std::runtime_error&) {
      caught = true;
    }
    const int got = co_await apart();
    co_return caught ? got : 0;
  };
  const int got = sync_wait(spawn(alone, [&]() -> task<int> {
    auto [a, b] = co_await fork_join(parent(), parent());
    co_return a + b;
  }));
  CHECK(got == 4);
}

TEST_CASE("a child that waits after others have ended on its stack by a transfer leaves") {
  runtime alone({.workers = 1});
  event bell;
  auto apart = []() -> eager_task<int> {
    auto [a, b] = co_await fork_join(number(1), number(2));
    co_return a + b;
  };
  auto waits = [&]() -> task<int> {
    const int got = co_await apart();
    co_return co_await bell.wait() ? got : 0;
  };
  auto sets = [&]() -> task<int> {
    co_await yield();
    bell.set();
    co_return 10;
  };
  auto inner = [&]() -> task<int> {
    auto [a, b] = co_await fork_join(waits(), sets());
    co_return a + b;
  };
  const int got = sync_wait(spawn(alone, [&]() -> task<int> {
    auto [a, b] = co_await fork_join(inner(), number(100));
    co_return a + b;
  }));
  CHECK(got == 113);
}

TEST_CASE("a parent that its failed child has resumed is left alone by the call below") {
  runtime alone({.workers = 1});
  event bell;
  note_budget parents;
  auto fails = []() -> task<int> {
    throw std::runtime_error("no");
    co_return 0;
  };
  auto parent = [&]() -> task<int> {
    try {
      static_cast<void>(co_await fork_join(number(1), fails()));
    } catch (const std::runtime_error&) {
    }
    co_await parents;
    spawn([&]() -> task<> {
      CHECK(parents.now() == parents.budget);
      bell.set();
      co_return;
    });
    co_return co_await bell.wait() ? 1 : 0;
  };
  const int got = sync_wait(spawn(alone, [&]() -> task<int> {
    auto [a, b] = co_await fork_join(parent(), number(1));
    co_return a + b;
  }));
  CHECK(got == 2);
}

TEST_CASE("a child runs under the context of its group, and its parent goes on under it") {
  runtime rt({.workers = 2});
  auto context_here = []() -> task<const context*> { co_return &current_context(); };
  auto inner = [&]() -> task<bool> {
    const context* const own = &current_context();
    auto [a, b] = co_await fork_join(context_here(), context_here());
    co_return a == own&& b == own && &current_context() == own;
  };
  auto body = [&]() -> task<bool> {
    const context* const own = &current_context();
    auto [a, b] = co_await fork_join(inner(), inner());
    co_return a && b && &current_context() == own;
  };
  CHECK(sync_wait(spawn(rt, body)));
}

TEST_CASE("eager bodies fork on the stack of their caller") {
  runtime rt({.workers = 2});
  auto eager = [](auto& self, int depth) -> eager_task<int> {
    if (depth == 0) co_return 1;
    auto child = [&self, depth]() -> task<int> { co_return co_await self(self, depth - 1); };
    auto [a, b] = co_await fork_join(child(), child());
    co_return a + b;
  };
  CHECK(sync_wait(spawn(rt, [&]() -> task<int> { co_return co_await eager(eager, 8); })) == 256);
}

TEST_SUITE_END();
