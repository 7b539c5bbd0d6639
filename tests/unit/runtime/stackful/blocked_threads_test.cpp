// Plain threads that really block in a primitive's wait, in sync_wait and in await: ended by a grant, by a deadline of
// the machine's clock, and by a stop. (How waits end in general, and in which order, is in the suites.)
#include <hocket/core/observer.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/barrier.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/completion.hpp>
#include <hocket/sync/condition.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/latch.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/stopped.hpp>
#include <hocket/sync/watch.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <thread>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Knows when a wait has found that it must suspend.
class suspension_bell final : public observer {
 public:
  suspension_bell() { install_observer(*this); }
  ~suspension_bell() { remove_observer(*this); }
  void on_suspend(coroutine_id, const wait_info&) noexcept override {
    rung_ = true;
    rung_.notify_all();
  }
  void wait() const { rung_.wait(false); }

 private:
  std::atomic<bool> rung_{false};
};

struct in_sync_wait {
  static auto wait(auto&& what) { return sync_wait(std::move(what)); }
};
struct in_await {
  static auto wait(auto&& what) { return await(std::move(what)); }
};

// Each of these has a wait that must suspend, and what grants it. wait() is called by the thread that waits.
struct locking {
  mutex m;
  mutex::guard held = m.try_lock();
  auto wait() { return m.lock(); }
  void grant() { held.unlock(); }
};
struct writing {
  shared_mutex m;
  shared_mutex::shared_guard held = m.try_lock_shared();
  auto wait() { return m.lock(); }
  void grant() { held.unlock(); }
};
struct reading {
  shared_mutex m;
  shared_mutex::guard held = m.try_lock();
  auto wait() { return m.lock_shared(); }
  void grant() { held.unlock(); }
};
struct told_by_a_condition {
  mutex m;
  condition changed;
  mutex::guard held;
  auto wait() {
    held = m.try_lock();
    return changed.wait(held);
  }
  void grant() {
    while (!changed.notify_one()) std::this_thread::yield();
  }
};
struct entering {
  monitor m;
  monitor::guard in = m.try_enter();
  auto wait() { return m.enter(); }
  void grant() { in.leave(); }
};
struct waiting_for_an_event {
  event bell;
  auto wait() { return bell.wait(); }
  void grant() { bell.set(); }
};
struct waiting_for_an_auto_reset_event {
  auto_reset_event bell;
  auto wait() { return bell.wait(); }
  void grant() { bell.set(); }
};
struct acquiring {
  semaphore permits{0};
  auto wait() { return permits.acquire(); }
  void grant() { permits.release(); }
};
struct waiting_at_a_latch {
  latch ready{1};
  auto wait() { return ready.wait(); }
  void grant() { ready.count_down(); }
};
struct arriving {
  barrier both{2};
  auto wait() { return both.arrive_and_wait(); }
  void grant() { CHECK(sync_wait(both.arrive_and_wait()).has_value()); }
};
struct waiting_for_another_turn {
  once opened;
  std::optional<once::turn> turn{*sync_wait(opened.enter())};
  auto wait() { return opened.enter(); }
  void grant() { turn->done(); }
};
struct receiving_one {
  decltype(make_oneshot<int>()) ends = make_oneshot<int>();
  auto wait() { return ends.receiver.receive(); }
  void grant() { CHECK(ends.sender.send(1)); }
};
struct completed {
  completion<int> answer;
  auto wait() { return answer.wait(); }
  void grant() { CHECK(answer.complete(1)); }
};
template <class Channel>
struct sending {
  Channel c{1};
  bool full = c.try_send(0).has_value();
  auto wait() { return c.send(1); }
  void grant() { CHECK(c.try_receive().has_value()); }
};
template <class Channel>
struct receiving {
  Channel c{1};
  auto wait() { return c.receive(); }
  void grant() { CHECK(c.try_send(1).has_value()); }
};
struct receiving_a_broadcast {
  broadcast<int> c{4};
  decltype(c.subscribe()) mine = c.subscribe();
  auto wait() { return mine.receive(); }
  void grant() { CHECK(c.send(1)); }
};
struct watching {
  watch<int> value{0};
  decltype(value.subscribe()) mine = value.subscribe();
  bool seen = mine.try_receive().has_value();
  auto wait() { return mine.receive(); }
  void grant() { CHECK(value.set(1)); }
};
struct waiting_for_a_stop {
  stop_source quit;
  auto wait() { return stopped(quit); }
  void grant() { quit.request(); }
};
struct selecting {
  event never;
  semaphore permits{0};
  auto wait() { return select(never.wait(), permits.acquire()); }
  void grant() { permits.release(); }
};
struct joining {
  event bell;
  loop lp;
  join_handle<int> child = spawn(lp, [this]() -> task<int> {
    auto rung = co_await bell.wait();
    co_return rung ? 1 : 0;
  });
  auto wait() { return child.join(); }
  void grant() {
    bell.set();
    lp.run();
  }
};

#define CASES                                                                                                      \
  locking, writing, reading, told_by_a_condition, entering, waiting_for_an_event, waiting_for_an_auto_reset_event, \
      acquiring, waiting_at_a_latch, arriving, waiting_for_another_turn, receiving_one, completed,                 \
      sending<channel<int>>, receiving<channel<int>>, sending<spsc_channel<int>>, receiving<spsc_channel<int>>,    \
      receiving_a_broadcast, watching, waiting_for_a_stop, selecting, joining

std::error_code error_of(const auto& got) { return got ? std::error_code() : got.error(); }

template <class Way, class Case>
std::error_code after_grant() {
  suspension_bell bell;
  Case in;
  std::error_code error = std::make_error_code(std::errc::interrupted);
  std::thread waits([&] { error = error_of(Way::wait(in.wait())); });
  bell.wait();
  in.grant();
  waits.join();
  return error;
}

template <class Way, class Case>
std::error_code after_deadline() {
  Case in;
  std::error_code error;
  std::thread([&] { error = error_of(Way::wait(within(1ms, in.wait()))); }).join();
  return error;
}

template <class Way, class Case>
std::error_code after_stop() {
  suspension_bell bell;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  Case in;
  std::error_code error;
  std::thread waits([&] {
    detail::running_scope running({nullptr}, ctx.get());
    error = error_of(Way::wait(in.wait()));
  });
  bell.wait();
  stop.request(stop_level::cancel);
  waits.join();
  return error;
}

}  // namespace

TEST_CASE_TEMPLATE("a thread that blocks in a wait goes on by a grant", Case, CASES) {
  CHECK(after_grant<in_sync_wait, Case>() == std::error_code());
  CHECK(after_grant<in_await, Case>() == std::error_code());
}

TEST_CASE_TEMPLATE("a thread that blocks in a wait goes on when its time is up", Case, CASES) {
  CHECK(after_deadline<in_sync_wait, Case>() == std::errc::timed_out);
  CHECK(after_deadline<in_await, Case>() == std::errc::timed_out);
}

TEST_CASE_TEMPLATE("a thread that blocks in a wait goes on by a stop of its context", Case, CASES) {
  CHECK(after_stop<in_sync_wait, Case>() == std::errc::operation_canceled);
  CHECK(after_stop<in_await, Case>() == std::errc::operation_canceled);
}

TEST_CASE_TEMPLATE("a thread sleeps until its time, or until a stop", Way, in_sync_wait, in_await) {
  struct sleeping {
    auto wait() { return sleep_for(24h); }
  };
  CHECK(after_stop<Way, sleeping>() == std::errc::operation_canceled);
  const time_point until = deadline_after(steady_clock().now(), 1ms);
  auto slept = Way::wait(sleep_until(until));
  CHECK(slept.has_value());
  CHECK(steady_clock().now() >= until);
}
