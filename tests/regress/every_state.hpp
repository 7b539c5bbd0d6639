// Tasks in every state in which a loop or a runtime may be destroyed (FAULTS 61): ready, waiting for everything that
// can be waited for, with timers, children, forks and shields, and for one another; and unstarted, if it comes at once.
// What each of them holds is a `counted`.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/invoke.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/sync/completion.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include "unit/coro/queue_executor.hpp"

#include <functional>
#include <vector>

namespace hocket_test {

using namespace hocket;
using namespace std::chrono_literals;

inline context_local<counted> bound;

struct surroundings {
  event never;
  mutex guarding;
  semaphore none{0};
  completion<int> answer;
  oneshot<int> ends = make_oneshot<int>();
  event circle_closed;
  join_handle<> one, other;
};

inline task<int> wait(surroundings& in) {
  counted local;
  static_cast<void>(co_await in.never.wait());
  co_return 1;
}
inline task<> yields(surroundings&) {
  counted local;
  for (;;) co_await yield();
}
inline task<> waits_deep(surroundings& in) {
  counted local;
  auto deep = invoke([kept = counted(), &in]() -> task<int> { co_return co_await wait(in); });
  static_cast<void>(co_await std::move(deep));
}
inline task<> waits_timed(surroundings& in) {
  counted local;
  static_cast<void>(co_await within(1h, in.answer.wait()));
}
inline task<> waits_for_one_of(surroundings& in) {
  counted local;
  static_cast<void>(co_await within(1h, select(in.none.acquire(), in.never.wait(), in.ends.receiver.receive())));
}
inline task<> holds(surroundings& in) {
  counted local;
  auto held = co_await in.guarding.lock();
  static_cast<void>(co_await in.never.wait());
}
inline task<> waits_for_group(surroundings& in) {
  counted local;
  auto all = when_all(wait(in), then(wait(in), [](int n) { return n; }), when_any(wait(in), in.answer.wait()));
  static_cast<void>(co_await std::move(all));
}
inline task<> waits_for_children(surroundings& in) {
  counted local;
  auto body = [&in](scope& all) -> task<> {
    spawn(all, wait, std::ref(in));
    auto second = spawn(all, wait, std::ref(in));
    static_cast<void>(co_await second);
  };
  co_await in_scope(body);
}
inline task<> waits_shielded(surroundings& in) {
  counted local;
  auto cleanup = bound.with(counted(), shielded(wait(in)));
  static_cast<void>(co_await std::move(cleanup));
}
inline eager_task<int> eager(surroundings& in) {
  counted local;
  co_return co_await wait(in);
}
inline task<> waits_for_eager(surroundings& in) {
  counted local;
  auto begun = eager(in);
  static_cast<void>(co_await std::move(begun));
}
inline shared_task<int> shared(surroundings& in) {
  counted local;
  co_return co_await wait(in);
}
inline task<> waits_for_shared(surroundings& in, shared_task<int> body) {
  counted local;
  static_cast<void>(co_await body);
  static_cast<void>(in);
}
inline async_generator<int> values(surroundings& in) {
  counted local;
  co_yield 1;
  static_cast<void>(co_await in.never.wait());
}
inline task<> reads(surroundings& in) {
  counted local;
  auto all = values(in);
  while (co_await all.next()) continue;
}
inline task<> waits_in_circle(surroundings& in, join_handle<>& next) {
  counted local;
  static_cast<void>(co_await in.circle_closed.wait());
  co_await next;
}
inline task<> waits_for_forks(surroundings& in) {
  counted local;
  auto all = fork_join(wait(in), waits_deep(in), wait(in));
  static_cast<void>(co_await std::move(all));
}

// What never yields sleeps in the end; `busy` is what does.
enum class busy : bool { no, yes };

inline std::vector<join_handle<>> spawn_in_every_state(auto& where, surroundings& in, busy how) {
  using waiting = task<> (*)(surroundings&);
  constexpr waiting all[] = {waits_deep,      waits_timed,     waits_for_one_of,   holds,
                             holds,           waits_for_group, waits_for_children, waits_shielded,
                             waits_for_eager, reads,           waits_for_forks};
  auto body = shared(in);
  std::vector<join_handle<>> handles;
  if (how == busy::yes) handles.push_back(spawn(where, yields, std::ref(in)));
  for (waiting one : all) handles.push_back(spawn(where, one, std::ref(in)));
  handles.push_back(spawn(where, waits_for_shared, std::ref(in), body));
  handles.push_back(spawn(where, waits_for_shared, std::ref(in), std::move(body)));
  in.one = spawn(where, waits_in_circle, std::ref(in), std::ref(in.other));
  in.other = spawn(where, waits_in_circle, std::ref(in), std::ref(in.one));
  in.circle_closed.set();
  return handles;
}

}  // namespace hocket_test
