#include <hocket/core/frame_memory.hpp>

#include <hocket/core/sync_wait.hpp>
#include <hocket/core/thread/seam/housekeeping.hpp>
#include <hocket/coro/task.hpp>

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<int> child(int n) { co_return n; }
task<int> sum(int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += co_await child(i);
  co_return total;
}

// Every case starts with a thread that keeps nothing.
struct fresh {
  fresh() { trim_frame_memory(); }
  ~fresh() {
    frame_memory_limit(default_frame_memory_limit);
    frame_memory_decay(default_frame_memory_decay);
    trim_frame_memory();
  }
};

// Frames of one size, given back in order.
struct some_frames {
  std::size_t bytes;
  std::vector<void*> frames;
  some_frames(std::size_t size, int n) : bytes(size) {
    for (int i = 0; i < n; ++i) frames.push_back(detail::allocate_frame(bytes));
  }
  ~some_frames() {
    for (void* f : frames) detail::release_frame(f, bytes);
  }
};

}  // namespace

TEST_CASE("under a sanitizer nothing is kept") {
  if (detail::recycles_frames) return;
  CHECK(sync_wait(sum(10)) == 45);
  CHECK(frame_memory_usage().held == 0);
  CHECK(frame_memory_usage().hits == 0);
}

TEST_CASE("a loop of awaits takes one frame from the heap") {
  if (!detail::recycles_frames) return;
  fresh start;
  const auto before = frame_memory_usage();
  CHECK(sync_wait(sum(1000)) == 499500);
  const auto after = frame_memory_usage();
  CHECK(after.misses - before.misses <= 3);  // the child, sum, the root of sync_wait
  CHECK(after.hits - before.hits >= 999);
}

TEST_CASE("frames come back last in, first out, within their size class") {
  if (!detail::recycles_frames) return;
  fresh start;
  void* a = detail::allocate_frame(100);
  void* b = detail::allocate_frame(128);
  void* c = detail::allocate_frame(129);
  detail::release_frame(a, 100);
  detail::release_frame(b, 128);
  detail::release_frame(c, 129);
  CHECK(frame_memory_usage().held == 128 + 128 + 192);
  CHECK(detail::allocate_frame(65) == b);
  CHECK(detail::allocate_frame(127) == a);
  CHECK(detail::allocate_frame(150) == c);
  CHECK(frame_memory_usage().held == 0);
  detail::release_frame(b, 65);
  detail::release_frame(a, 127);
  detail::release_frame(c, 150);
}

TEST_CASE("larger frames than the classes go to the heap") {
  fresh start;
  void* big = detail::allocate_frame(detail::frame_step * detail::frame_classes + 1);
  detail::release_frame(big, detail::frame_step * detail::frame_classes + 1);
  CHECK(frame_memory_usage().held == 0);
}

TEST_CASE("a thread keeps two magazines of 16 KiB of each size, the depot no more than its limit") {
  if (!detail::recycles_frames) return;
  fresh start;
  CHECK(frame_memory_limit(64 * 1024) == default_frame_memory_limit);
  CHECK(frame_memory_limit() == 64 * 1024);
  for (std::size_t bytes : {64u, 512u, 2048u, 64u, 1024u}) {
    some_frames many(bytes, 4000);
  }
  CHECK(frame_memory_usage().held <= 4 * 32 * 1024);
  CHECK(frame_memory_usage().held > 4 * 16 * 1024);
  CHECK(frame_memory_usage().shared == 64 * 1024);
}

TEST_CASE("a storm of frames finds those of the one before it, however many they were") {
  if (!detail::recycles_frames) return;
  fresh start;
  constexpr int many = 50'000;  // 100 MB
  std::uint64_t misses = 0;
  for (int storm = 0; storm < 3; ++storm) {
    if (storm == 1) misses = frame_memory_usage().misses;
    some_frames all(2048, many);
  }
  CHECK(frame_memory_usage().misses == misses);
  CHECK(frame_memory_usage().held + frame_memory_usage().shared == 2048 * std::size_t{many});
}

TEST_CASE("the depot keeps what the last period used, and gives the rest of a storm back") {
  if (!detail::recycles_frames) return;
  fresh start;
  manual_clock time;
  frame_memory_decay(1s, time);
  {
    some_frames storm(2048, 50'000);
  }
  constexpr std::size_t used = 1000 * 2048;
  for (int i = 0; i < 1000 && frame_memory_usage().shared > used; ++i) {
    time.advance(100ms);
    static_cast<void>(detail::memory_reclaimer(time).reclaim());
    some_frames again(2048, 1000);
  }
  CHECK(time.now() < time_point(20s));
  CHECK(frame_memory_usage().shared <= used);
  const auto misses = frame_memory_usage().misses;
  for (int i = 0; i < 100; ++i) {
    time.advance(100ms);
    static_cast<void>(detail::memory_reclaimer(time).reclaim());
    some_frames again(2048, 1000);
  }
  CHECK(frame_memory_usage().misses == misses);
  CHECK(frame_memory_usage().held + frame_memory_usage().shared >= used);
}

TEST_CASE("the memory of a burst is returned without housekeeping, while frames are in use") {
  if (!detail::recycles_frames) return;
  fresh start;
  manual_clock time;
  frame_memory_decay(1s, time);
  {
    some_frames storm(2048, 50'000);
  }
  constexpr std::size_t used = 1000 * 2048;
  for (int i = 0; i < 10'000 && frame_memory_usage().shared > used; ++i) {
    time.advance(100ms);
    some_frames again(2048, 1000);
  }
  CHECK(frame_memory_usage().shared <= used);
}

TEST_CASE("a limit that is set holds at every moment, also for a storm") {
  if (!detail::recycles_frames) return;
  fresh start;
  CHECK(frame_memory_limit() == default_frame_memory_limit);
  constexpr std::size_t limit = 1 << 20;
  frame_memory_limit(limit);
  std::size_t most = 0;
  some_frames all(512, 10'000);
  for (void* frame : std::exchange(all.frames, {})) {
    detail::release_frame(frame, 512);
    most = std::max(most, frame_memory_usage().shared);
  }
  CHECK(most == limit);
}

TEST_CASE("frames beyond two magazines come back by the depot") {
  if (!detail::recycles_frames) return;
  fresh start;
  {
    some_frames many(64, 1024);
  }
  CHECK(frame_memory_usage().held == 32 * 1024);
  CHECK(frame_memory_usage().shared == 32 * 1024);
  const auto misses = frame_memory_usage().misses;
  some_frames again(64, 1024);
  CHECK(frame_memory_usage().misses == misses);
  CHECK(frame_memory_usage().held == 0);
  CHECK(frame_memory_usage().shared == 0);
}

TEST_CASE("a lower limit empties the depot, trim gives everything back") {
  if (!detail::recycles_frames) return;
  fresh start;
  {
    some_frames many(256, 10);
  }
  CHECK(frame_memory_usage().held == 2560);
  CHECK(trim_frame_memory() == 2560);
  CHECK(trim_frame_memory() == 0);
  CHECK(frame_memory_usage().held == 0);
  {
    some_frames many(256, 1000);
  }
  const auto [hits, misses, held, shared] = frame_memory_usage();
  CHECK(held + shared == 256 * 1000);
  frame_memory_limit(shared);
  CHECK(frame_memory_usage().shared == shared);
  frame_memory_limit(shared - 1);
  CHECK(frame_memory_usage().shared == 0);
  CHECK(frame_memory_usage().held == held);
  CHECK(trim_frame_memory() == held);
}

TEST_CASE("what was not needed for a period is given back, a megabyte at a time") {
  if (!detail::recycles_frames) return;
  fresh start;
  manual_clock time;
  frame_memory_decay(1s, time);
  {
    some_frames many(256, 40000), others(1024, 100);
  }
  const std::size_t burst = frame_memory_usage().shared;
  CHECK(burst > 9'000'000);
  CHECK(frame_memory_usage().held > 0);
  time_point due = detail::memory_reclaimer(time).reclaim();
  CHECK(due == time_point(1s));
  int portions = 0;
  while (due != time_point::max() && portions < 100) {
    const std::size_t before = frame_memory_usage().shared;
    portions += due == time.now();
    time.set(due);
    due = detail::memory_reclaimer(time).reclaim();
    CHECK(frame_memory_usage().shared + (1 << 20) >= before);
  }
  CHECK(portions >= 8);
  // The depot checks its magazines of a size after a number of arrivals, and the thread returns magazines here, too. A
  // magazine that arrives after this check stays for another period: hence four, where three are usual.
  CHECK(time.now() <= time_point(4s));
  CHECK(frame_memory_usage().held == 0);
  CHECK(frame_memory_usage().shared == 0);
}

TEST_CASE("what is needed in each period stays") {
  if (!detail::recycles_frames) return;
  fresh start;
  manual_clock time;
  frame_memory_decay(1s, time);
  {
    some_frames many(256, 1000);
  }
  const auto misses = frame_memory_usage().misses;
  for (int i = 0; i < 20; ++i) {
    time.advance(400ms);
    CHECK(detail::memory_reclaimer(time).reclaim() > time.now());
    some_frames again(256, 1000);
  }
  CHECK(frame_memory_usage().misses == misses);
}

TEST_CASE("a reclaimer that had nothing to return checks again when its thread caches frames") {
  if (!detail::recycles_frames) return;
  fresh start;
  manual_clock time;
  frame_memory_decay(1s, time);
  detail::memory_reclaimer keeps(time);
  const time_point unknown = time_point::min();
  for (int i = 0; i < 3; ++i) {
    CHECK(keeps.reclaim() == time_point::max());
    auto in_use = std::make_unique<some_frames>(256, 3);
    CHECK(keeps.reclaim_if_due(unknown) == time_point::max());
    in_use.reset();
    CHECK(keeps.reclaim_if_due(unknown) == time.now() + 1s);
    in_use = std::make_unique<some_frames>(256, 3);  // what was kept is in use again: the next look finds nothing
    time.advance(1s);
    CHECK(keeps.reclaim_if_due(time.now()) == time_point::max());
    in_use.reset();
    CHECK(keeps.reclaim_if_due(unknown) == time.now() + 1s);
    time.advance(1s);
    CHECK(keeps.reclaim_if_due(unknown) == time.now());  // nobody has told the time
    keeps.expect_due();
    CHECK(keeps.reclaim_if_due(unknown) == time_point::max());
    CHECK(frame_memory_usage().held == 0);
  }
}

TEST_CASE("a reclaimer checks again when the policy of the decay has changed") {
  if (!detail::recycles_frames) return;
  fresh start;
  manual_clock time;
  frame_memory_decay(1h, time);
  detail::memory_reclaimer keeps(time);
  {
    some_frames few(256, 3);
  }
  CHECK(keeps.reclaim_if_due(time.now()) == time_point(1h));
  frame_memory_decay(1s, time);
  CHECK(keeps.reclaim_if_due(time_point::min()) == time_point(1s));
  trim_frame_memory();
  CHECK(keeps.reclaim() == time_point::max());
}

TEST_CASE("frames decay by the clock that was named, or never") {
  if (!detail::recycles_frames) return;
  fresh start;
  manual_clock time, other;
  {
    some_frames many(256, 1000);
  }
  const auto kept = frame_memory_usage();
  auto keep_often = [&](manual_clock& by) {
    for (int i = 0; i < 5; ++i) {
      by.advance(1h);
      CHECK(detail::memory_reclaimer(by).reclaim() == time_point::max());
    }
  };
  frame_memory_decay(1s, time);
  keep_often(other);
  frame_memory_decay(duration::max(), time);
  keep_often(time);
  CHECK(frame_memory_usage().held == kept.held);
  CHECK(frame_memory_usage().shared == kept.shared);
}

TEST_CASE("a frame stays with the thread that frees it, and goes when that ends") {
  if (!detail::recycles_frames) return;
  fresh start;
  void* travels = detail::allocate_frame(300);
  std::size_t held_there = 0;
  std::thread([&] {
    detail::release_frame(travels, 300);
    held_there = frame_memory_usage().held;
  }).join();
  CHECK(held_there == 320);
  CHECK(frame_memory_usage().held == 0);
  CHECK(frame_memory_usage().shared == 0);
}

TEST_CASE("what one thread makes and another frees comes back to the first") {
  if (!detail::recycles_frames) return;
  fresh start;
  const auto before = frame_memory_usage();
  constexpr int rounds = 20, each = 1000, magazine = 128;  // of which the one that is not full ends with its thread
  for (int round = 0; round < rounds; ++round) {
    auto made = std::make_unique<some_frames>(128, each);
    std::thread([&] { made.reset(); }).join();
  }
  CHECK(frame_memory_usage().misses - before.misses < each + rounds * magazine);
  CHECK(frame_memory_usage().hits - before.hits > (rounds - 1) * (each - magazine));
}

TEST_CASE("many threads exchange frames by the depot, which decays, each frame being somebody's alone") {
  if (!detail::recycles_frames) return;
  manual_clock time;
  fresh start;
  frame_memory_decay(1ms, time);
  std::vector<std::thread> threads;
  for (std::uintptr_t id = 1; id <= 4; ++id)
    threads.emplace_back([id] {
      std::vector<std::uintptr_t*> mine;
      for (int round = 0; round < 200; ++round) {
        for (int i = 0; i < 300; ++i)
          *mine.emplace_back(static_cast<std::uintptr_t*>(detail::allocate_frame(128))) = id;
        for (std::uintptr_t* frame : mine) {
          if (*frame != id) std::abort();
          detail::release_frame(frame, 128);
        }
        mine.clear();
      }
    });
  for (int i = 0; i < 1000; ++i) {
    time.advance(1ms);
    static_cast<void>(detail::memory_reclaimer(time).reclaim());
  }
  for (std::thread& one : threads) one.join();
}

TEST_CASE("a thread uses frames to its very end") {
  struct late {
    void* frame = nullptr;
    ~late() {
      if (!frame) return;
      detail::release_frame(frame, 200);
      detail::release_frame(detail::allocate_frame(200), 200);
      CHECK(frame_memory_usage().held == 0);
    }
  };
  std::thread([] {
    static thread_local late first;  // made before the frame memory, so destroyed after it
    first.frame = nullptr;
    first.frame = detail::allocate_frame(200);
    some_frames kept(200, 5);
  }).join();
}
