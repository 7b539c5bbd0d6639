// context_local and shielded in fibers, threads, and what these spawn.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

context_local<std::string> trace_id;
context_local<std::shared_ptr<int>> counted_value;

std::string traced() { return trace_id.get() ? *trace_id : "-"; }
task<std::string> traced_task() {
  co_await yield();
  co_return traced();
}
std::string traced_fiber() {
  await(yield());
  return traced();
}

}  // namespace

TEST_CASE("a fiber that waits and yields in a block keeps what is bound, and others do not have it") {
  loop lp;
  event go;
  std::vector<std::string> all;
  auto bound = spawn(lp, [&] {
    trace_id.with("mine", [&] {
      await(yield());
      all.push_back(traced());
      CHECK(await(go.wait()).has_value());
      await(yield());
      all.push_back(traced());
    });
    await(yield());
    all.push_back(traced());
  });
  auto other = spawn(lp, [&] {
    for (int i = 0; i < 4; ++i) {
      CHECK(traced() == "-");
      await(yield());
    }
    go.set();
  });
  lp.run();
  CHECK(bound.done());
  CHECK(other.done());
  CHECK(all == std::vector<std::string>{"mine", "mine", "-"});
}

TEST_CASE("an eager task that a fiber began before a block is not in it") {
  event first, second;
  bool granted = true;
  std::vector<std::string> seen;
  auto body = [&]() -> eager_task<bool> {
    static_cast<void>(co_await first.wait());
    seen.push_back(traced());
    bool came = (co_await second.wait()).has_value();
    seen.push_back(traced());
    co_return came;
  };
  loop lp;
  auto fiber = spawn(lp, [&] {
    auto begun = body();
    trace_id.with("of the block", [&] {
      shielded([&] {
        first.set();
        await(yield());
        await(yield());
      });
    });
    granted = await(std::move(begun));
  });
  lp.step();
  fiber.cancel();
  lp.run();
  CHECK(seen == std::vector<std::string>{"-", "-"});
  CHECK_FALSE(granted);  // the shield was not its, the cancellation is
}

TEST_CASE("what is spawned in a block inherits, whatever its kind and target, and for its whole life") {
  loop lp;
  event go;
  auto value = std::make_shared<int>(7);
  std::vector<std::string> all;
  auto late = [&] {
    CHECK(await(go.wait()).has_value());
    all.push_back(traced() + std::to_string(**counted_value));
  };
  auto root = spawn(lp, [&] {
    scope children;
    counted_value.with(value, [&] {
      trace_id.with("one", [&] {
        auto a = spawn(children, traced_fiber);
        auto b = spawn(traced_task);
        auto c = spawn(lp, traced_fiber);
        trace_id.with("two", [&] { all.push_back(await(spawn(children, traced_task))); });
        all.push_back(await(a) + await(b) + await(c));
        spawn(lp, late);
      });
    });
    all.push_back(traced());
    all.push_back(await(spawn(children, traced_task)));
  });
  while (lp.step()) {
  }
  CHECK(root.done());
  CHECK(all == std::vector<std::string>{"two", "oneoneone", "-", "-"});
  CHECK(value.use_count() == 2);
  go.set();
  lp.run();
  CHECK(all.back() == "one7");
  CHECK(value.use_count() == 1);
}

TEST_CASE("the body of a shared task has the bindings of nobody who awaits it") {
  auto shared = []() -> shared_task<std::string> { co_return traced(); };
  const std::string got = run([&] {
    auto body = shared();
    return trace_id.with("first", [&] { return await(body); });
  });
  CHECK(got == "-");
}

TEST_CASE("a thread binds for itself alone, and for what it awaits and spawns") {
  loop lp;
  trace_id.with("thread", [&] {
    CHECK(traced() == "thread");
    CHECK(sync_wait(traced_task()) == "thread");
    std::thread other([] { CHECK(traced() == "-"); });
    other.join();
    auto spawned = spawn(lp, traced_fiber);
    lp.run();
    CHECK(sync_wait(spawned) == "thread");
  });
  CHECK(traced() == "-");
  CHECK(trace_id.get() == nullptr);
}

TEST_CASE("a fiber that is killed in a block leaves it in order") {
  loop lp;
  event never;
  std::string after;
  auto victim = spawn(lp, [&] {
    struct looks {
      std::string& at;
      ~looks() { at = traced(); }
    } last{after};
    trace_id.with("inner", [&] { (void)await(never.wait()); });
  });
  while (lp.step()) {
  }
  victim.kill();
  lp.run();
  CHECK(after == "-");
}

TEST_CASE("a callable is shielded in a fiber: from cancels and deadlines, not from its own, nor from a kill") {
  loop lp;
  event gate, never;
  std::vector<std::error_code> ends;
  auto end_of = [](result<void> got) { return got ? std::error_code() : got.error(); };
  auto cleans = spawn(lp, {.within = 0s}, [&] {
    ends.push_back(end_of(await(never.wait())));
    shielded([&] {
      await(yield());
      ends.push_back(end_of(await(gate.wait())));
      ends.push_back(end_of(await(within(0s, never.wait()))));
      scope children;
      auto child = spawn(children, [&] { ends.push_back(end_of(await(gate.wait()))); });
      await(child);
    });
    ends.push_back(end_of(await(never.wait())));
  });
  while (lp.step()) {
  }
  cleans.cancel();
  while (lp.step()) {
  }
  CHECK(ends.size() == 1);
  gate.set();
  lp.run();
  REQUIRE(ends.size() == 5);
  CHECK(ends[0] == std::errc::timed_out);
  CHECK_FALSE(ends[1]);
  CHECK(ends[2] == std::errc::timed_out);
  CHECK_FALSE(ends[3]);
  CHECK(static_cast<bool>(ends[4]));

  bool unwound = true;
  auto victim = spawn(lp, [&] {
    shielded([&] {
      (void)await(never.wait());
      unwound = false;
    });
  });
  while (lp.step()) {
  }
  victim.cancel();
  while (lp.step()) {
  }
  CHECK_FALSE(victim.done());
  victim.kill();
  lp.run();
  CHECK(victim.done());
  CHECK(unwound);
}

TEST_CASE("a context_local to which nothing is bound: get() says so, and using it is fatal") {
  CHECK(trace_id.get() == nullptr);
  expect_fatal([] { (void)trace_id->size(); }, "to which nothing is bound");
}

TEST_CASE("a raw coroutine that yields in a block is fatal, once another one is left") {
  expect_fatal(
      [] {
        coroutine<void()> inner{[](auto& self) { trace_id.with("raw", [&] { self.yield(); }); }};
        trace_id.with("owner", [&] { inner.resume(); });
      },
      "left while another one was under way");
}
