// Spawned fibers on a depot that has lent all that it may, and what becomes of stacks that nobody needs any more.
// Each case takes a size class of its own, since depots are the process's.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/time/within.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// The process's depot of a size, with other terms for one test, and nothing kept free from the one before.
struct terms {
  terms(std::size_t size, const stack_options& options) : depot(stack_depot::shared(size)) {
    detail::fiber_thread::current().pool_of(size).trim();
    depot.tune(options);
  }
  ~terms() { depot.tune({}); }
  stack_depot& depot;
};

spawn_options of_size(std::size_t size, literal_name name = {}) { return {.name = name, .stack_size = size}; }

}  // namespace

TEST_CASE("at the limit, a fiber that has no stack ends with the error, and others go on") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 2});
  const auto before = limited.depot.statistics().refusals;
  loop lp;
  std::vector<join_handle<int>> handles;
  for (int i = 0; i < 4; ++i)
    handles.push_back(spawn(lp, of_size(size), [i] {
      await(yield());
      return i;
    }));
  lp.run();
  CHECK(await(handles[0]) == 0);
  CHECK(await(handles[1]) == 1);
  for (int i : {2, 3}) {
    try {
      static_cast<void>(await(handles[static_cast<std::size_t>(i)]));
      FAIL("a fiber ran without a stack");
    } catch (const std::system_error& error) {
      CHECK(error.code() == std::errc::resource_unavailable_try_again);
    }
  }
  CHECK(limited.depot.statistics().refusals - before == 2);
}

TEST_CASE("at_limit::wait: fibers wait unbegun, and run in their order as stacks come back") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 3, .when_full = at_limit::wait});
  loop lp;
  std::vector<int> order;
  std::size_t most = 0, live = 0;
  for (int i = 0; i < 100; ++i)
    spawn(lp, of_size(size), [&, i] {
      most = std::max(most, ++live);
      await(yield());
      order.push_back(i);
      --live;
    });
  const std::size_t before = limited.depot.statistics().waits;
  lp.run();
  CHECK(most == 3);
  CHECK(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end()));
  CHECK(limited.depot.statistics().waits - before >= 97);
  CHECK(limited.depot.statistics().waiting == 0);
}

TEST_CASE("a raw coroutine cannot wait: it is the error") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 1, .when_full = at_limit::wait});
  stack_pool pool(limited.depot);
  coroutine<void()> one(pool, [](auto&) {});
  CHECK_THROWS_AS(static_cast<void>(coroutine<void()>(pool, [](auto&) {})), std::system_error);
}

TEST_CASE("a call on a big stack cannot wait, either: the error comes before the call") {
  constexpr std::size_t size = std::size_t{8} << 20;
  terms limited(size, {.limit = 1, .when_full = at_limit::wait});
  loop lp;
  int calls = 0;
  auto handle = spawn(lp, [&] {
    call_on_big_stack([&] {
      ++calls;
      call_on_big_stack([&] { ++calls; });
    });
  });
  lp.run();
  try {
    await(handle);
    FAIL("a call ran without a stack");
  } catch (const std::system_error& error) {
    CHECK(error.code() == std::errc::resource_unavailable_try_again);
    CHECK(std::string(error.what()).find("no big stack for a call") != std::string::npos);
  }
  CHECK(calls == 1);
  call_on_big_stack([&] { ++calls; });  // the outer call gave its own back
  CHECK(calls == 2);
}

TEST_CASE("a fiber that is killed while it waits never runs, and takes nobody's turn") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 1, .when_full = at_limit::wait});
  loop lp;
  auto_reset_event go;
  int ran = 0;
  auto first = spawn(lp, of_size(size), [&] { static_cast<void>(await(go.wait())); });
  auto killed = spawn(lp, of_size(size), [&] { ++ran; });
  auto cancelled_one = spawn(lp, of_size(size), [&] { ++ran; });
  auto last = spawn(lp, of_size(size), [&] { ran += 10; });
  lp.run_for(0s);
  CHECK(limited.depot.statistics().waiting == 3);
  killed.kill();
  lp.run_for(0s);
  CHECK(killed.done());
  cancelled_one.cancel();
  lp.run_for(0s);
  CHECK(cancelled_one.done());
  CHECK_FALSE(last.done());
  go.set();
  lp.run();
  CHECK(last.done());
  CHECK(ran == 10);
  CHECK_THROWS_AS(await(cancelled_one), cancelled);
}

TEST_CASE("a kill and a stack that come at once: the stack goes to the next") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 1, .when_full = at_limit::wait});
  loop lp;
  for (int first_comes = 0; first_comes < 2; ++first_comes) {
    auto_reset_event go;
    int ran = 0;
    auto holder = spawn(lp, of_size(size), [&] { static_cast<void>(await(go.wait())); });
    auto killed = spawn(lp, of_size(size), [&] { await(yield()); });
    auto next = spawn(lp, of_size(size), [&] { ++ran; });
    lp.run_for(0s);
    if (first_comes) killed.kill();
    go.set();
    while (!holder.done()) lp.step();  // gives its stack to the one that waits first
    if (!first_comes) killed.kill();
    lp.run();
    CHECK(ran == 1);
    CHECK(killed.done());
  }
  CHECK(limited.depot.statistics().waiting == 0);
}

TEST_CASE("the deadline of a fiber counts while it waits for a stack") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 1, .when_full = at_limit::wait});
  manual_clock time;
  simulated_parker parker(time);
  loop lp({.clock = &time, .parker = &parker});
  auto_reset_event go;
  auto holder = spawn(lp, of_size(size), [&] { static_cast<void>(await(go.wait())); });
  auto late = spawn(lp, {.within = 5s, .stack_size = size}, [] {});
  lp.run_until(late);
  try {
    await(late);
    FAIL("it had no stack");
  } catch (const std::system_error& error) {
    CHECK(error.code() == std::errc::timed_out);
  }
  go.set();
  lp.run();
}

TEST_CASE("a loop ends with fibers that wait for stacks which others have") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 1, .when_full = at_limit::wait});
  bool ran = false;
  stack_ref taken = limited.depot.acquire().value();
  {
    loop lp;
    for (int i = 0; i < 3; ++i) spawn(lp, of_size(size), [&] { ran = true; });
    lp.run_for(0s);
    CHECK(limited.depot.statistics().waiting == 3);
  }
  CHECK_FALSE(ran);
  CHECK(limited.depot.statistics().waiting == 0);
  limited.depot.release(taken);
}

TEST_CASE("a stack that comes back on another thread wakes a fiber here, and one that idles there, too") {
  constexpr std::size_t size = 512 * 1024;
  terms limited(size, {.limit = 1, .when_full = at_limit::wait});
  constexpr int each = 200;
  primitive::atomic<int> ran{0};
  auto body = [&] {
    loop lp;
    for (int i = 0; i < each; ++i)
      spawn(lp, of_size(size), [&] {
        await(yield());
        ran.fetch_add(1);
      });
    lp.run();
  };
  std::thread other(body);
  body();
  other.join();
  CHECK(ran.load() == 2 * each);
  CHECK(limited.depot.statistics().in_use == 0);
}

TEST_CASE("stacks of a burst of fibers are given back while the loop idles, in its time") {
  constexpr std::size_t size = 16 * 1024, burst = 10000;
  manual_clock time;
  simulated_parker parker(time);
  terms virtual_time(size, {.keep = 16, .decay = 1s, .clock = &time});
  {
    loop lp({.clock = &time, .parker = &parker});
    for (std::size_t i = 0; i < burst; ++i)
      spawn(lp, of_size(size), [&] {
        char used[512];
        for (char& byte : used) static_cast<volatile char&>(byte) = 1;
        await(yield());
        await(yield());
      });
    lp.run();
    CHECK(virtual_time.depot.statistics().peak >= burst);
    const std::size_t high = virtual_time.depot.statistics().committed;
    CHECK(high >= 4096 * burst / 2);
    auto_reset_event never;
    spawn(lp, [&]() -> task<void> { static_cast<void>(co_await within(5s, never.wait())); });
    lp.run();
    const depot_statistics after = virtual_time.depot.statistics();
    CHECK(time.now().time_since_epoch() < 6s);
    CHECK(after.in_use == 0);
    CHECK(after.warm <= 16);
    CHECK(after.slabs <= 1);
    CHECK(after.committed < high / 100);
  }
}
