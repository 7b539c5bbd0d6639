// A loop that is the guest of another event loop: poll(), the host's wait, the descriptor that ends it.
#include <hocket/core/yield.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/descriptor_parker.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/time/sleep.hpp>

#include "support/death.hpp"
#include "support/frames_stay.hpp"
#include "unit/runtime/gate.hpp"
#include "unit/runtime/host.hpp"

#include <cerrno>
#include <climits>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <sys/resource.h>
#include <system_error>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> count_one(int& count) {
  ++count;
  co_return;
}

task<> yield_for_ever() {
  for (;;) co_await yield();
}

task<bool> pass(gate& at) {
  auto passed = co_await at.pass();
  co_return passed.has_value();
}

task<> sleep_long(duration time) { static_cast<void>(co_await sleep_for(time)); }

task<> pass_and_tell(gate& at, bool& gone) {
  struct witness {
    bool& gone;
    ~witness() { gone = true; }
  } local{gone};
  static_cast<void>(co_await at.pass());
}

// Answers one after the other what another thread sends.
task<int> receive(int rounds, std::vector<oneshot_receiver<int>>& from) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    auto got = co_await from[static_cast<std::size_t>(i)].receive();
    sum += got ? *got : 0;
  }
  co_return sum;
}

}  // namespace

TEST_CASE("poll is one turn: it says whether more is ready, and never sleeps") {
  loop lp;
  int count = 0;
  CHECK_FALSE(lp.poll());
  for (int i = 0; i < 100; ++i) spawn(lp, count_one, std::ref(count));
  CHECK(lp.poll());
  CHECK(count == 64);
  CHECK_FALSE(lp.poll());
  CHECK(count == 100);
}

TEST_CASE("poll comes back from coroutines that are always ready") {
  loop lp;
  auto busy = spawn(lp, yield_for_ever);
  for (int i = 0; i < 3; ++i) CHECK(lp.poll());
  CHECK(lp.begin_sleep() == time_point::min());
  busy.kill();
  while (lp.poll()) {
  }
  CHECK(busy.done());
}

TEST_CASE("a host may wait for ever where there is nothing to do, and not at all where something is ready") {
  frames_stay idle;
  descriptor_parker bell;
  loop lp({.parker = &bell});
  gate shut;
  CHECK(lp.begin_sleep() == time_point::max());
  spawn(lp, pass, std::ref(shut));
  CHECK(lp.begin_sleep() == time_point::min());
  CHECK(lp.begin_sleep() == time_point::min());
  CHECK_FALSE(lp.poll());
  CHECK(lp.begin_sleep() == time_point::max());
  CHECK(lp.begin_sleep() == time_point::max());
  shut.open();
  CHECK_FALSE(lp.poll());
  CHECK(lp.live() == 0);
}

TEST_CASE("a host waits until the next timer, said in the loop's time, and no longer than to the end of time") {
  frames_stay idle;
  manual_clock time;
  descriptor_parker bell;
  loop lp({.clock = &time, .parker = &bell});
  auto sleeper = spawn(lp, sleep_long, duration(7ms));
  auto eternal = spawn(lp, sleep_long, duration::max());
  lp.poll();
  CHECK(lp.begin_sleep() == time_point(7ms));
  time.advance(7ms - 1ns);
  lp.poll();
  CHECK_FALSE(sleeper.done());
  CHECK(lp.begin_sleep() == time_point(7ms));
  time.advance(1ns);
  CHECK(lp.begin_sleep() <= lp.now());
  lp.poll();
  CHECK(sleeper.done());
  CHECK(lp.begin_sleep() == time_point::max());
  CHECK_FALSE(eternal.done());
}

TEST_CASE("the descriptor becomes readable by what is posted to a loop that sleeps, once, and poll reads it") {
  frames_stay idle;
  descriptor_parker bell;
  loop lp({.parker = &bell});
  int count = 0;
  CHECK_FALSE(readable(bell));
  REQUIRE(lp.begin_sleep() == time_point::max());
  CHECK_FALSE(readable(bell));
  std::thread([&] { spawn(lp, count_one, std::ref(count)); }).join();
  CHECK(readable(bell));
  spawn(lp, count_one, std::ref(count));
  CHECK_FALSE(lp.poll());
  CHECK(count == 2);
  CHECK_FALSE(readable(bell));
}

TEST_CASE("nobody writes to the descriptor of a loop that is awake") {
  frames_stay idle;
  descriptor_parker bell;
  loop lp({.parker = &bell});
  int count = 0;
  spawn(lp, count_one, std::ref(count));
  CHECK_FALSE(readable(bell));
  lp.poll();
  REQUIRE(lp.begin_sleep() == time_point::max());
  lp.end_sleep();
  std::thread([&] { spawn(lp, count_one, std::ref(count)); }).join();
  CHECK_FALSE(readable(bell));
  lp.poll();
  CHECK(count == 2);
  lp.end_sleep();
  CHECK_FALSE(readable(bell));
}

TEST_CASE("stop ends the host's wait, and is used up by the poll that follows") {
  frames_stay idle;
  descriptor_parker bell;
  loop lp({.parker = &bell});
  gate shut;
  auto waiter = spawn(lp, pass, std::ref(shut));
  lp.poll();
  REQUIRE(lp.begin_sleep() == time_point::max());
  std::thread([&] { lp.stop(); }).join();
  CHECK(readable(bell));
  lp.poll();
  CHECK_FALSE(readable(bell));
  shut.open();
  lp.run();
  CHECK(waiter.done());
}

TEST_CASE("a loop is destroyed while its host sleeps, woken meanwhile or not") {
  frames_stay idle;
  descriptor_parker bell;
  for (bool woken : {false, true}) {
    gate shut;
    bool gone = false;
    {
      loop lp({.parker = &bell});
      spawn(lp, pass_and_tell, std::ref(shut), std::ref(gone));
      lp.poll();
      REQUIRE(lp.begin_sleep() == time_point::max());
      if (woken) std::thread([&] { shut.open(); }).join();
      CHECK(readable(bell) == woken);
    }
    CHECK(gone);
    CHECK_FALSE(readable(bell));
  }
}

TEST_CASE("a loop with a descriptor sleeps in its own runs, too") {
  descriptor_parker bell;
  loop lp({.parker = &bell});
  gate shut;
  auto waiter = spawn(lp, pass, std::ref(shut));
  const time_point until = deadline_after(lp.now(), 2ms);
  lp.run_for(2ms);
  CHECK(lp.now() >= until);
  std::thread opener([&] { shut.open(); });
  lp.run();
  opener.join();
  CHECK(waiter.done());
  CHECK_FALSE(readable(bell));
}

TEST_CASE("what another thread sends reaches a coroutine through epoll, by level and by edge") {
  constexpr int rounds = 2'000;
  for (bool by_edge : {false, true}) {
    descriptor_parker bell;
    loop lp({.parker = &bell});
    epoll_host host(bell, by_edge);
    std::vector<oneshot_sender<int>> senders;
    std::vector<oneshot_receiver<int>> receivers;
    for (int i = 0; i < rounds; ++i) {
      auto [sender, receiver] = make_oneshot<int>();
      senders.push_back(std::move(sender));
      receivers.push_back(std::move(receiver));
    }
    auto sum = spawn(lp, receive, rounds, std::ref(receivers));
    std::thread other([&] {
      for (auto& sender : senders) static_cast<void>(sender.send(1));
    });
    host.run(lp);
    other.join();
    CHECK(sync_wait(sum) == rounds);
  }
}

TEST_CASE("timers fire in a host's wait, not early") {
  descriptor_parker bell;
  loop lp({.parker = &bell});
  epoll_host host(bell, false);
  const time_point until = deadline_after(lp.now(), 1500us);
  spawn(lp, sleep_long, duration(1500us));
  host.run(lp);
  CHECK(lp.now() >= until);
  CHECK(host.waits() < 100);  // it slept
}

TEST_CASE("a limit for epoll is rounded up, cut, and endless at the end of time") {
  const time_point now{5s};
  CHECK(poll_timeout(time_point::max(), now) == -1);
  CHECK(poll_timeout(time_point::min(), now) == 0);
  CHECK(poll_timeout(now, now) == 0);
  CHECK(poll_timeout(now + 1ns, now) == 1);
  CHECK(poll_timeout(now + 1ms, now) == 1);
  CHECK(poll_timeout(now + 1ms + 1ns, now) == 2);
  CHECK(poll_timeout(time_point::max() - 1ns, now) == INT_MAX);
  CHECK(poll_timeout(time_point::max() - 1ns, time_point::max() - 2ns) == 1);
  CHECK(poll_timeout(time_point::max() - 1ns, time_point::min()) == INT_MAX);
}

TEST_CASE("a descriptor_parker keeps its wake, ends by its time, and leaves errno to its wakers") {
  descriptor_parker bed;
  CHECK_FALSE(bed.park(time_point::min()));
  errno = ENOTTY;
  bed.wake();
  CHECK(errno == ENOTTY);
  CHECK(bed.park(time_point::max()));
  const time_point until = deadline_after(steady_clock().now(), 100us);
  CHECK_FALSE(bed.park(until));
  CHECK(steady_clock().now() >= until);
  std::thread waker([&] { bed.wake(); });
  CHECK(bed.park(time_point::max() - 1ns));
  waker.join();
}

TEST_CASE("without a free descriptor there is no descriptor_parker, but an exception") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = 0;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK_THROWS_AS(descriptor_parker(), std::system_error);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("a coroutine cannot be the host of a loop") {
  expect_fatal(
      [] {
        run([]() -> task<> {
          loop inner;
          inner.poll();
          co_return;
        });
      },
      "a loop was run by a coroutine");
}

TEST_CASE("a descriptor that somebody has closed is not waited at") {
  expect_fatal(
      [] {
        descriptor_parker bell;
        ::close(bell.descriptor());
        [[maybe_unused]] const bool woken = bell.park(time_point::max());
      },
      "the descriptor of a parker cannot be waited at");
}
