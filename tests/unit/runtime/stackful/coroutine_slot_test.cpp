// Slots of coroutines, and their hooks, in tasks and fibers.
#include <hocket/core/observer.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/wait/detail/observed.hpp>
#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace hocket;
using detail::coroutine_slot;
using detail::current_coroutine_slot;
using detail::slot_kind;

namespace {

struct plain_slot : coroutine_slot {
  static constexpr slot_kind own{.name = "plain"};
  explicit plain_slot(int n) : coroutine_slot(own), number(n) {}
  int number;
};

int number_now() {
  const auto* const found = static_cast<plain_slot*>(current_coroutine_slot(plain_slot::own));
  return found ? found->number : -1;
}
task<int> number_in_task() { co_return number_now(); }

struct other_slot : coroutine_slot {
  static constexpr slot_kind own{.name = "other"};
  other_slot() : coroutine_slot(own) {}
};

// Writes what its hooks are called for to a list of the test.
struct noting_slot : coroutine_slot {
  static void write(coroutine_slot& slot, const char* event) {
    auto& self = static_cast<noting_slot&>(slot);
    self.list->push_back(self.name + event);
  }
  static constexpr slot_kind own{.name = "noting",
                                 .on_suspend = [](coroutine_slot& slot) noexcept { write(slot, " suspended"); },
                                 .on_resume = [](coroutine_slot& slot) noexcept { write(slot, " resumed"); }};
  noting_slot(std::string text, std::vector<std::string>& events)
      : coroutine_slot(own), name(std::move(text)), list(&events) {}
  std::string name;
  std::vector<std::string>* list;
};

// Counts how often its coroutine is away.
struct counting_slot : coroutine_slot {
  static void add(coroutine_slot& slot, int n) { static_cast<counting_slot&>(slot).away += n; }
  static constexpr slot_kind own{.name = "counting",
                                 .on_suspend = [](coroutine_slot& slot) noexcept { add(slot, 1); },
                                 .on_resume = [](coroutine_slot& slot) noexcept { add(slot, -1); }};
  counting_slot() : coroutine_slot(own) {}
  int away = 0;
};

using list_of = std::vector<std::string>;

template <class Step>
void run_all(loop& lp, Step step) {
  while (lp.step()) {
  }
  step();
  lp.run();
}

}  // namespace

TEST_CASE("a coroutine finds its innermost slot of a kind, in what it calls and awaits, and no other coroutine's") {
  loop lp;
  static context_local<int> bound;
  std::vector<int> found;
  spawn(lp, [&] {
    found.push_back(number_now());
    plain_slot outer(1);
    {
      const plain_slot inner(2);
      const other_slot other;
      found.push_back(number_now());
      found.push_back(await(number_in_task()));
      found.push_back(bound.with(1, [] { return number_now(); }));
      found.push_back(await(spawn([] { return number_now(); })));
      const auto [first, right] = await(when_all(number_in_task(), number_in_task()));
      found.insert(found.end(), {first, right});
      CHECK(inner.outer() == &outer);
      CHECK(outer.outer() == nullptr);
    }
    found.push_back(number_now());
  });
  lp.run();
  CHECK(found == std::vector<int>{-1, 2, 2, 2, -1, -1, -1, 1});
}

TEST_CASE("an eager body of a fiber has no slot; a raw coroutine finds those of its resumer") {
  loop lp;
  spawn(lp, [] {
    const plain_slot own(3);
    const auto eager = []() -> eager_task<int> { co_return number_now(); };
    CHECK(await(eager()) == -1);
    int in_raw = 0;
    coroutine<void()> raw([&](auto&) { in_raw = number_now(); });
    raw.resume();
    CHECK(in_raw == 3);
  });
  lp.run();
}

TEST_CASE("outside of coroutines a slot is unentered, and found by nobody") {
  const plain_slot own(4);
  CHECK_FALSE(own.is_entered());
  CHECK(number_now() == -1);
}

TEST_CASE("the hooks of a fiber's slots are called at each wait that suspends: the innermost first, then last") {
  loop lp;
  event go;
  list_of events;
  spawn(lp, [&] {
    const noting_slot outer("outer", events);
    const other_slot between;
    const noting_slot inner("inner", events);
    static_cast<void>(await(go.wait()));
    events.emplace_back("code");
    static_cast<void>(await(go.wait()));  // it is set: nothing suspends
    await(yield());
  });
  run_all(lp, [&] {
    CHECK(events == list_of{"inner suspended", "outer suspended"});
    go.set();
  });
  CHECK(events == list_of{"inner suspended", "outer suspended", "outer resumed", "inner resumed", "code"});
  CHECK_FALSE(detail::observed());
}

TEST_CASE("so are those of a task's slots, also where a task that it awaits waits") {
  loop lp;
  event go;
  list_of events;
  const auto waits = [](event& awaited) -> task<> { static_cast<void>(co_await awaited.wait()); };
  spawn(lp, [&]() -> task<> {
    const noting_slot own("own", events);
    co_await waits(go);
    events.emplace_back("code");
    co_await yield();
  });
  run_all(lp, [&] {
    CHECK(events == list_of{"own suspended"});
    go.set();
  });
  CHECK(events == list_of{"own suspended", "own resumed", "code"});
}

TEST_CASE("a kill calls on_resume() before the coroutine unwinds and leaves its slots") {
  for (const bool in_task : {false, true}) {
    loop lp;
    event never;
    list_of events;
    struct note {
      list_of& list;
      ~note() { list.emplace_back("unwound"); }
    };
    const auto fiber = [&] {
      const noting_slot own("own", events);
      const note last{events};
      static_cast<void>(await(never.wait()));
    };
    const auto body = [&]() -> task<> {
      const noting_slot own("own", events);
      const note last{events};
      static_cast<void>(co_await never.wait());
    };
    auto handle = in_task ? spawn(lp, body) : spawn(lp, fiber);
    run_all(lp, [&] { handle.kill(); });
    CHECK(events == list_of{"own suspended", "own resumed", "unwound"});
  }
}

TEST_CASE("a coroutine without slots is not queued by a frame while another one has hooks, and observers see both") {
  struct counter final : observer {
    void on_suspend(coroutine_id, const wait_info&) noexcept override { ++suspended; }
    void on_resume(coroutine_id) noexcept override { ++resumed; }
    int suspended = 0, resumed = 0;
  } watching;
  loop lp;
  event go;
  list_of events;
  install_observer(watching);
  spawn(lp, [&] {
    const noting_slot own("own", events);
    static_cast<void>(await(go.wait()));
  });
  spawn(lp, [&] { static_cast<void>(await(go.wait())); });
  run_all(lp, [&] { go.set(); });
  remove_observer(watching);
  CHECK(events == list_of{"own suspended", "own resumed"});
  CHECK(watching.suspended == 2);
  CHECK(watching.resumed == 4);  // each begins, too
}

TEST_CASE("hooks and slots follow a coroutine from worker to worker") {
  runtime rt({.workers = 2});
  std::atomic<int> wrong{0};
  std::vector<join_handle<>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(spawn(rt, {.migratable = true}, [&] {
      counting_slot own;
      for (int k = 0; k < 50; ++k) {
        await(spawn([] {}));
        wrong += own.away != 0 || current_coroutine_slot(counting_slot::own) != &own;
      }
    }));
    all.push_back(spawn(rt, [&]() -> task<> {
      counting_slot own;
      for (int k = 0; k < 50; ++k) {
        co_await spawn([]() -> task<> { co_return; });
        wrong += own.away != 0 || current_coroutine_slot(counting_slot::own) != &own;
      }
    }));
  }
  for (auto& each : all) sync_wait(each);
  CHECK(wrong == 0);
}

TEST_CASE("the waits of a task's eager bodies call no hook while the task waits") {
  loop lp;
  event first, second;
  list_of events;
  const auto body = [](event& a, event& b) -> eager_task<> {
    static_cast<void>(co_await a.wait());
    static_cast<void>(co_await b.wait());
  };
  spawn(lp, [&]() -> task<> {
    const noting_slot own("own", events);
    auto eager = body(first, second);
    static_cast<void>(co_await second.wait());
    events.emplace_back("code");
    co_await std::move(eager);
  });
  run_all(lp, [&] {
    first.set();
    while (lp.step()) {
    }
    second.set();
  });
  CHECK(std::count(events.begin(), events.end(), "own suspended") ==
        std::count(events.begin(), events.end(), "own resumed"));
  CHECK(events.front() == "own suspended");
}

TEST_CASE("a fiber with hooks stays in place while its stack could be packed; without hooks it is packed") {
  for (const bool hooked : {false, true}) {
    loop lp;
    event go;
    list_of events;
    spawn(lp, {.hibernate_after = std::chrono::hours(1)}, [&] {
      const plain_slot plain(5);
      std::optional<noting_slot> noting;
      if (hooked) noting.emplace("own", events);
      static_cast<void>(await(go.wait()));
      CHECK(number_now() == 5);
    });
    run_all(lp, [&] {
      CHECK(hibernate_parked() == (hooked ? 0u : 1u));
      go.set();
    });
    CHECK(events.size() == (hooked ? 2u : 0u));
  }
}

TEST_CASE("misuse of a slot is fatal, and names its kind and both coroutines") {
  hocket_test::expect_fatal(
      [] {
        loop lp;
        std::unique_ptr<plain_slot> slot;
        spawn(lp, {.name = "owner"}, [&] {
          slot = std::make_unique<plain_slot>(1);
          await(yield());
          await(yield());
        });
        spawn(lp, {.name = "thief"}, [&] { slot.reset(); });
        lp.run();
      },
      "a slot \"plain\" of the coroutine \"owner\" was left by the code of \"thief\"");
  hocket_test::expect_fatal(
      [] {
        loop lp;
        spawn(lp, {.name = "owner"}, [] {
          auto outer = std::make_unique<plain_slot>(1);
          const other_slot inner;
          outer.reset();
        });
        lp.run();
      },
      "before a slot inside of it");
  hocket_test::expect_fatal(
      [] {
        loop lp;
        spawn(lp, {.stack = stack_kind::copied}, [] {
          list_of events;
          const noting_slot own("own", events);
        });
        lp.run();
      },
      "a slot with hooks");
  if constexpr (detail::debug_checks)
    hocket_test::expect_fatal(
        [] {
          loop lp;
          std::unique_ptr<plain_slot> slot;
          spawn(lp, {.name = "owner"}, [&] { slot = std::make_unique<plain_slot>(1); });
          lp.run();
        },
        "the coroutine \"owner\" has ended, and not left its slot \"plain\"");
}
