// FAULTS 61: a loop that is destroyed under tasks in every state: unstarted, ready, waiting for everything that can be
// waited for, with timers, children and shields, and for themselves. All unwind, nothing is left, and nothing hangs.
#include <hocket/base/clock.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/invoke.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/completion.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

context_local<counted> bound;

struct surroundings {
  event never;
  mutex guarding;
  semaphore none{0};
  completion<int> answer;
  oneshot<int> ends = make_oneshot<int>();
  join_handle<> self;
};

task<int> wait(surroundings& in) {
  counted local;
  static_cast<void>(co_await in.never.wait());
  co_return 1;
}
task<> yields(surroundings&) {
  counted local;
  for (;;) co_await yield();
}
task<> waits_deep(surroundings& in) {
  counted local;
  auto deep = invoke([kept = counted(), &in]() -> task<int> { co_return co_await wait(in); });
  static_cast<void>(co_await std::move(deep));
}
task<> waits_timed(surroundings& in) {
  counted local;
  static_cast<void>(co_await within(1h, in.answer.wait()));
}
task<> waits_for_one_of(surroundings& in) {
  counted local;
  static_cast<void>(co_await within(1h, select(in.none.acquire(), in.never.wait(), in.ends.receiver.receive())));
}
task<> holds(surroundings& in) {
  counted local;
  auto held = co_await in.guarding.lock();
  static_cast<void>(co_await in.never.wait());
}
task<> waits_for_group(surroundings& in) {
  counted local;
  auto all = when_all(wait(in), then(wait(in), [](int n) { return n; }), when_any(wait(in), in.answer.wait()));
  static_cast<void>(co_await std::move(all));
}
task<> waits_for_children(surroundings& in) {
  counted local;
  auto body = [&in](scope& all) -> task<> {
    spawn(all, wait, std::ref(in));
    auto second = spawn(all, wait, std::ref(in));
    static_cast<void>(co_await second);
  };
  co_await in_scope(body);
}
task<> waits_shielded(surroundings& in) {
  counted local;
  auto cleanup = bound.with(counted(), shielded(wait(in)));
  static_cast<void>(co_await std::move(cleanup));
}
eager_task<int> eager(surroundings& in) {
  counted local;
  co_return co_await wait(in);
}
task<> waits_for_eager(surroundings& in) {
  counted local;
  auto begun = eager(in);
  static_cast<void>(co_await std::move(begun));
}
shared_task<int> shared(surroundings& in) {
  counted local;
  co_return co_await wait(in);
}
task<> waits_for_shared(surroundings& in, shared_task<int> body) {
  counted local;
  static_cast<void>(co_await body);
  static_cast<void>(in);
}
async_generator<int> values(surroundings& in) {
  counted local;
  co_yield 1;
  static_cast<void>(co_await in.never.wait());
}
task<> reads(surroundings& in) {
  counted local;
  auto all = values(in);
  while (co_await all.next()) continue;
}
task<> waits_for_itself(surroundings& in) {
  counted local;
  co_await in.self;
}

void destroy_after(int turns) {
  surroundings in;
  manual_clock clock;
  std::vector<join_handle<>> handles;
  {
    loop lp({.time = &clock});
    auto body = shared(in);
    using waiting = task<> (*)(surroundings&);
    constexpr waiting all[] = {yields,          waits_deep,         waits_timed,    waits_for_one_of, holds, holds,
                               waits_for_group, waits_for_children, waits_shielded, waits_for_eager,  reads};
    for (waiting one : all) handles.push_back(spawn(lp, one, std::ref(in)));
    handles.push_back(spawn(lp, waits_for_shared, std::ref(in), body));
    handles.push_back(spawn(lp, waits_for_shared, std::ref(in), std::move(body)));
    in.self = spawn(lp, waits_for_itself, std::ref(in));
    if (turns % 3 == 1) handles.front().cancel();
    if (turns % 5 == 1) handles.back().kill();
    for (int i = 0; i < turns; ++i) lp.step();
  }
  for (auto& one : handles) CHECK(one.done());
  CHECK(in.self.done());
}

}  // namespace

TEST_CASE("a loop that is destroyed after any number of turns leaves nothing") {
  const int times = detail::recycles_frames ? 10'000 : 400;
  for (int i = 0; i < times; ++i) {
    destroy_after(i % 47);
    REQUIRE(counted::live == 0);
  }
}
