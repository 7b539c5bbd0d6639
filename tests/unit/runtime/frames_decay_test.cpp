// A loop that has nothing to do gives back the frames that its thread keeps, in the time of its clock.
#include <hocket/core/frame_memory.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>

#include <algorithm>
#include <doctest/doctest.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<> burst(int depth) {
  if (depth > 0) co_await burst(depth - 1);
}

// Frames decay by this clock, from a thread that keeps none.
struct decay {
  decay() {
    trim_frame_memory();
    frame_memory_decay(1s, time);
  }
  decay(const decay&) = delete;
  decay& operator=(const decay&) = delete;
  ~decay() { frame_memory_decay(default_frame_memory_decay); }

  manual_clock time;
};

// Moves the clock, and ends the run if that sleeps again and again.
class impatient_parker final : public parker {
 public:
  explicit impatient_parker(manual_clock& time) noexcept : moves_(time) {}
  bool park(time_point until) noexcept override {
    if (++parks == most) run->stop();
    return moves_.park(until);
  }
  void wake() noexcept override { moves_.wake(); }

  static constexpr int most = 100;
  loop* run = nullptr;
  int parks = 0;

 private:
  simulated_parker moves_;
};

}  // namespace

TEST_CASE("a loop that sleeps gives back the frames of a burst") {
  if (!detail::recycles_frames) return;
  decay by;
  simulated_parker parks(by.time);
  std::size_t after_burst = 0, later = 0;
  auto body = [&]() -> task<> {
    co_await burst(5000);
    after_burst = frame_memory_usage().held + frame_memory_usage().shared;
    static_cast<void>(co_await sleep_for(1h));
    later = frame_memory_usage().held + frame_memory_usage().shared;
  };
  {
    loop lp({.clock = &by.time, .parker = &parks});
    spawn(lp, body);
    lp.run();
  }
  CHECK(after_burst > 5000 * 64);
  CHECK(later == 0);
  CHECK(by.time.now() == time_point(1h));
}

TEST_CASE("a loop that has slept until its maintenance was due returns frames, without another reading of the clock") {
  if (!detail::recycles_frames) return;
  decay by;
  impatient_parker parks(by.time);
  loop lp({.clock = &by.time, .parker = &parks});
  parks.run = &lp;
  spawn(lp, burst, 100);
  lp.run();
  CHECK(frame_memory_usage().held > 100 * 64);
  lp.run_for(5s);
  CHECK(frame_memory_usage().held == 0);
  CHECK(by.time.now() == time_point(5s));
  CHECK(parks.parks < parks.most);
}

TEST_CASE("a host whose guest keeps frames is told to come back once for them, and then no more") {
  if (!detail::recycles_frames) return;
  decay by;
  simulated_parker parks(by.time);
  loop lp({.clock = &by.time, .parker = &parks});
  spawn(lp, burst, 100);
  while (lp.poll()) continue;
  int waits = 0;
  for (time_point until = lp.begin_sleep(); until != time_point::max() && waits < 10; until = lp.begin_sleep()) {
    ++waits;
    by.time.set(std::max(by.time.now(), until));  // the host's wait
    lp.end_sleep();
    lp.poll();
  }
  CHECK(waits <= 2);  // the sizes that were used in the first period go at the end of the second
  CHECK(frame_memory_usage().held == 0);
}
