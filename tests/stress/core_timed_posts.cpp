// An inbox whose owner's sleeps end by the clock as others post and nudge, by brute force. The inbox and its parker are
// destroyed in the moment in which the owner knows that all has come, so a poster that is not done with them touches
// what is gone: TSan and ASan see it. A lost wake-up is a hang, which the time limit of the test ends.
#include <hocket/base/clock.hpp>
#include <hocket/core/thread/seam/inbox.hpp>

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

// Between the announcement that a poster answers and its wake there are but a few instructions. With some more, the
// clock often ends a sleep just there.
class slow_parker final : public parker {
 public:
  [[nodiscard]] bool park(time_point until) noexcept override { return inner_.park(until); }
  void wake() noexcept override {
    for (int step = 0; step < 3'000; ++step) detail::cpu_relax();
    inner_.wake();
  }

 private:
  futex_parker inner_;
};

template <class Parker>
struct bedroom {
  Parker bed;
  detail::inbox in{bed};
};

struct poster {
  std::atomic<detail::inbox*> target{nullptr};
  std::atomic<bool> over{false};
  detail::runnable work;

  void run() {
    for (int spin = 0; !over.load(); ++spin) {
      detail::inbox* found = target.exchange(nullptr);
      if (found) found->post(work);
      else if (spin % 64 == 0) std::this_thread::yield();
    }
  }
};

// Never, and in every other turn 0 to 50 us from now, or in the past.
time_point limit(int turn) {
  if (turn % 2 == 0) return time_point::max();
  const int step = turn * 7 % 52;
  return step == 51 ? time_point{} : deadline_after(steady_clock().now(), std::chrono::microseconds(step));
}

template <class Parker>
void leaves_when_all_has_come(int rounds) {
  std::array<poster, 2> posters;
  std::vector<std::thread> threads;
  for (auto& one : posters) threads.emplace_back([&] { one.run(); });
  int taken = 0;
  for (int round = 0; round < rounds; ++round) {
    auto home = std::make_unique<bedroom<Parker>>();
    for (auto& one : posters) one.target.store(&home->in);
    for (int turn = round, here = 0; here < 2; ++turn) {
      for (detail::runnable* work = home->in.take(); work; work = work->next) ++here, ++taken;
      if (here < 2) home->in.sleep(limit(turn));
    }
  }
  for (auto& one : posters) one.over = true;
  for (auto& thread : threads) thread.join();
  CHECK(taken == 2 * rounds);
}

}  // namespace

TEST_CASE("an inbox whose owner leaves in the moment in which all has come is not touched afterwards") {
  leaves_when_all_has_come<futex_parker>(20'000);
  leaves_when_all_has_come<slow_parker>(2'000);
}

TEST_CASE("each nudge brings what it is about, beside posts and time-outs") {
  constexpr std::uint32_t nudges = 20'000;
  bedroom<futex_parker> home;
  std::atomic<std::uint32_t> news{0}, known{0}, taken{0};
  std::vector<detail::runnable> work(nudges);
  std::thread nudger([&] {
    for (std::uint32_t i = 1; i <= nudges; ++i) {
      news.store(i, std::memory_order_relaxed);
      home.in.nudge();
      while (known.load(std::memory_order_relaxed) < i) std::this_thread::yield();
    }
  });
  std::thread poster([&] {
    for (std::uint32_t i = 0; i < nudges; ++i) {
      home.in.post(work[i]);
      while (i % 8 == 0 && taken.load(std::memory_order_relaxed) < i) std::this_thread::yield();
    }
  });
  for (int turn = 0; known.load() < nudges || taken.load() < nudges; ++turn) {
    for (detail::runnable* one = home.in.take(); one; one = one->next) ++taken;
    known.store(news.load(std::memory_order_relaxed));
    if (known.load() < nudges || taken.load() < nudges) home.in.sleep(limit(turn));
  }
  nudger.join();
  poster.join();
  CHECK(taken.load() == nudges);
}
