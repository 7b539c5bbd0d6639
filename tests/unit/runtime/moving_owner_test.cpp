// The owner of a monitor is the coroutine, on any worker: a task that moves between workers while it is in the monitor.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/monitor.hpp>

#include "support/runtime_look.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <thread>

using namespace hocket;

namespace {

void spin_until(const std::function<bool()>& holds) {
  while (!holds()) std::this_thread::yield();
}

// A monitor with an owner that waits for an event and for a notification in turn.
struct moving {
  monitor m;
  auto_reset_event go;
  std::atomic<std::thread::id> home{};  // the thread on which the owner continued last
  std::atomic<int> come{0}, gone_on{0};
  std::atomic<int> strangers_in{0};  // other entries while the owner was in it

  // Called by the owner after a wait. True: it has moved.
  bool note() {
    const auto here = std::this_thread::get_id();
    const bool moved = home.exchange(here) != here;
    ++gone_on;
    return moved;
  }
};

// Two of these run while the owner waits, one on each of two workers. The one on the owner's last worker holds this
// worker until the owner continues; the other one wakes the owner, so it continues there.
task<> push(moving& what) {
  const int before = what.gone_on;
  const bool notifies = before % 2 == 0;
  const bool at_home = std::this_thread::get_id() == what.home.load();  // until both run the owner stays there
  if (!notifies && what.m.try_enter()) ++what.strangers_in;
  ++what.come;
  spin_until([&] { return what.come >= 2 * before; });
  if (at_home) spin_until([&] { return what.gone_on != before; });
  else if (notifies) what.m.notify_one();
  else what.go.set();
  co_return;
}

// Enters once more after each wait.
task<> own(moving& what, int rounds, int& moved, int& entered) {
  auto in = co_await or_throw(what.m.enter());
  what.note();
  for (int round = 0; round < rounds; ++round) {
    const auto again = what.m.try_enter();
    co_await or_throw(what.go.wait());
    moved += what.note() ? 1 : 0;
    entered += what.m.try_enter() ? 1 : 0;
    co_await or_throw(what.m.wait(in));
    moved += what.note() ? 1 : 0;
    entered += again && what.m.try_enter() ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("a task that moves to another worker while it is in a monitor, or waits there, enters again") {
  constexpr int rounds = 20;
  moving what;
  int moved = 0, entered = 0;
  hocket::runtime rt({.workers = 2});
  auto owner = spawn(rt, own, std::ref(what), rounds, std::ref(moved), std::ref(entered));
  for (int i = 0; i < 2 * rounds; ++i) {
    detail::runtime_look::wait_until_asleep(rt);
    auto one = spawn(rt, push, std::ref(what)), other = spawn(rt, push, std::ref(what));
    sync_wait(one);
    sync_wait(other);
  }
  sync_wait(owner);
  CHECK(moved == 2 * rounds);
  CHECK(entered == 2 * rounds);
  CHECK(what.strangers_in == 0);
  CHECK(static_cast<bool>(what.m.try_enter()));
}
