// parallel_for over ranges whose body is a plain function: on a thread, on a loop, and on runtimes of 1 to 8 workers.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// On each kind of executor.
template <class F>
void everywhere(F body) {
  {
    auto whole = body();
    sync_wait(std::move(whole));
  }
  {
    loop lp;
    auto handle = spawn(lp, body);
    lp.run_until(handle);
    sync_wait(std::move(handle));
  }
  for (const std::size_t workers : {1u, 2u, 4u, 8u}) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    sync_wait(spawn(rt, body));
  }
}

template <class Index>
void expect_each_once(Index first, Index last, Index grain) {
  CAPTURE(std::intmax_t(first));
  CAPTURE(std::intmax_t(last));
  CAPTURE(std::intmax_t(grain));
  everywhere([=]() -> task<> {
    const auto size = static_cast<std::size_t>(detail::range_size(first, last));
    std::vector<std::atomic<int>> calls(size);
    std::atomic<bool> outside{false};
    co_await parallel_for(
        first, last,
        [&](Index i) {
          if (i < first || i >= last) outside = true;
          else ++calls[static_cast<std::size_t>(detail::range_size(first, i))];
        },
        grain);
    std::size_t wrong = 0;
    for (const auto& n : calls) wrong += n != 1;
    CHECK(wrong == 0);
    CHECK_FALSE(outside.load());
  });
}

// The last indices of a type, its first indices, and the indices around zero.
template <class Index>
void expect_each_once_at_the_ends() {
  using limits = std::numeric_limits<Index>;
  constexpr auto some = static_cast<Index>(120);
  for (const int grain : {1, 7, 64, 120}) {
    const auto each = static_cast<Index>(grain);
    expect_each_once<Index>(static_cast<Index>(limits::max() - some), limits::max(), each);
    expect_each_once<Index>(limits::min(), static_cast<Index>(limits::min() + some), each);
    if constexpr (std::is_signed_v<Index>) expect_each_once<Index>(-60, 60, each);
  }
}

// More indices than there is time for.
template <class Index>
inline constexpr Index lowest = std::numeric_limits<Index>::min();
template <class Index>
inline constexpr Index highest = std::numeric_limits<Index>::max();

struct found {
  std::int64_t at;
};

}  // namespace

TEST_CASE("parallel_for calls the body once for each index, at the ends of every type of index") {
  expect_each_once_at_the_ends<std::int8_t>();
  expect_each_once_at_the_ends<std::uint8_t>();
  expect_each_once_at_the_ends<std::int16_t>();
  expect_each_once_at_the_ends<unsigned>();
  expect_each_once_at_the_ends<std::int64_t>();
  expect_each_once_at_the_ends<std::size_t>();
  expect_each_once<std::int8_t>(-128, 127, 1);
  expect_each_once<std::uint8_t>(0, 255, 255);
  expect_each_once<int>(-50'000, 50'000, 64);
  expect_each_once<int>(-5, 5, std::numeric_limits<int>::max());
  expect_each_once<int>(-5, 5, -3);
  expect_each_once<int>(3, 4, 0);
}

TEST_CASE("an empty range, and one that ends before it begins, call nothing") {
  everywhere([]() -> task<> {
    std::atomic<int> calls{0};
    co_await parallel_for(7, 7, [&](int) { ++calls; });
    co_await parallel_for(7, -7, [&](int) { ++calls; });
    CHECK(calls == 0);
  });
}

TEST_CASE("an exception of the body ends a range of all the values of its type, and comes out of the await") {
  everywhere([]() -> task<> {
    std::atomic<int> calls{0};
    std::atomic<bool> over{false}, late{false};
    int caught = 0;
    try {
      co_await parallel_for(lowest<std::int64_t>, highest<std::int64_t>, [&](std::int64_t i) {
        if (over) late = true;
        if (++calls == 10'000) throw found{i};
      });
    } catch (const found&) {
      ++caught;
    }
    over = true;
    CHECK(caught == 1);
    CHECK(calls >= 10'000);
    co_await parallel_for(0, 1000, [](int) {});
    CHECK_FALSE(late.load());
  });
}

TEST_CASE("of several exceptions of a body one comes out of the await, and the others are gone") {
  everywhere([]() -> task<> {
    std::atomic<int> thrown{0};
    int caught = 0;
    for (int round = 0; round < 20; ++round) {
      try {
        co_await parallel_for(0, 10'000, [&](int i) {
          ++thrown;
          throw std::runtime_error(std::to_string(i));
        });
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
    CHECK(caught == 20);
    CHECK(thrown >= 20);
  });
}

// The range has no end: it ends when another worker has taken its half, however long that takes, and only if all
// halves stop for the one exception. Workers may change halves at a pause. So an index shows the half: the walk that
// begins at 0 does not reach 2^40.
TEST_CASE("a worker that has nothing to do takes a half, and an exception there stops the other half") {
  for (const std::size_t workers : {2u, 4u}) {
    CAPTURE(workers);
    constexpr std::int64_t far = std::int64_t{1} << 40;
    std::atomic<bool> thrown{false};
    std::int64_t last_below = -1, thrown_at = -1;
    hocket::runtime rt({.workers = workers});
    auto body = [&]() -> task<> {
      std::atomic<std::int64_t> last{0};
      auto each = [&](std::int64_t i) {
        if (i < far) last = i;
        else if (!thrown.exchange(true)) throw found{i};
      };
      try {
        co_await parallel_for(std::int64_t{0}, highest<std::int64_t>, each);
      } catch (const found& in_half) {
        thrown_at = in_half.at;
      }
      last_below = last;
    };
    sync_wait(spawn(rt, body));
    CHECK(thrown_at >= far);
    CHECK(last_below >= 0);
  }
}

TEST_CASE("where nobody looks for work a range is one task, however long it is") {
  if (!detail::recycles_frames) return;
  constexpr int size = 1'000'000, grain = 64, pauses = size / grain / 256;
  const auto made = [] { return frame_memory_usage().hits + frame_memory_usage().misses; };
  auto body = [&]() -> task<> {
    std::int64_t sum = 0;
    const auto before = made();
    co_await parallel_for(0, size, [&](int i) { sum += i; }, grain);
    CHECK(made() - before <= 2 + pauses);
    CHECK(sum == std::int64_t{size} * (size - 1) / 2);
  };
  sync_wait(body());
  hocket::runtime rt({.workers = 1});
  sync_wait(spawn(rt, body));
}

TEST_CASE("a long range lets other coroutines run after 256 of its pieces") {
  constexpr int budget = 256, grain = 10, rounds = 20;
  loop lp;
  int calls = 0, before = 0, passes = 0;
  auto walks = [&]() -> task<> { co_await parallel_for(0, rounds * budget * grain, [&](int) { ++calls; }, grain); };
  auto other = [&]() -> task<> {
    while (calls < rounds * budget * grain) {
      CHECK(calls - before <= budget * grain);
      before = calls;
      ++passes;
      co_await yield();
    }
  };
  spawn(lp, walks);
  spawn(lp, other);
  lp.run();
  CHECK(passes >= rounds - 1);
  CHECK(passes <= rounds + 1);
}

// The sleep is the subject of the test: its timer must fire although its worker never runs out of work.
TEST_CASE("timers of a worker fire while it walks a range without an end") {
  for (const std::size_t workers : {1u, 2u}) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::atomic<std::size_t> rung{0};
    std::vector<join_handle<>> all;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      all.push_back(spawn(rt, [&]() -> task<> {
        auto slept = co_await sleep_for(1ms);
        CHECK(slept.has_value());
        ++rung;
      }));
      all.push_back(spawn(rt, [&]() -> task<> {
        try {
          co_await parallel_for(std::size_t{0}, highest<std::size_t>, [&](std::size_t i) {
            if (rung == workers) throw found{static_cast<std::int64_t>(i)};
          });
        } catch (const found&) {
        }
      }));
    }
    for (auto& each : all) sync_wait(std::move(each));
  }
}

TEST_CASE("a kill ends a range without an end") {
  {
    loop lp;
    auto walks = []() -> task<> { co_await parallel_for(0, highest<int>, [](int) {}); };
    auto victim = spawn(lp, walks);
    spawn(lp, [&]() -> task<> {
      victim.kill();
      co_return;
    });
    lp.run();
    CHECK(victim.done());
  }
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    hocket::runtime rt({.workers = workers});
    std::atomic<bool> walking{false};
    auto walks = [&]() -> task<> {
      co_await parallel_for(lowest<std::int64_t>, highest<std::int64_t>, [&](std::int64_t) { walking = true; });
    };
    auto victim = spawn(rt, walks);
    while (!walking) std::this_thread::yield();
    victim.kill();
    while (!victim.done()) std::this_thread::yield();
  }
}

TEST_CASE("ranges nest, and beside each other they share the workers") {
  everywhere([]() -> task<> {
    std::vector<std::atomic<int>> calls(64 * 64);
    auto row = [&](int y) -> task<> {
      co_await parallel_for(0, 64, [&, y](int x) { ++calls[static_cast<std::size_t>(64 * y + x)]; }, 4);
    };
    co_await parallel_for(0, 64, row, 1);
    auto add = [&](int i) { ++calls[static_cast<std::size_t>(i)]; };
    static_cast<void>(co_await fork_join(parallel_for(0, 2048, add, 16), parallel_for(2048, 4096, add, 16)));
    std::size_t wrong = 0;
    for (const auto& n : calls) wrong += n != 2;
    CHECK(wrong == 0);
  });
}
