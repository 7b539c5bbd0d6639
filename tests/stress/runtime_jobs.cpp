// Jobs from several threads, against workers that fall asleep, get their drivers meanwhile, are stuck in a coroutine
// and are assisted, while tasks and fibers wait for I/O: nothing is lost, and nothing runs twice.
#include <hocket/core/post.hpp>
#include <hocket/runtime/runtime.hpp>

#include "stress/races.hpp"
#include "support/readiness_driver.hpp"
#include "unit/runtime/wire.hpp"

using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr bool plain = detail::sanitizer == detail::sanitizer_kind::plain && !detail::conforming_mode;
constexpr int rounds = plain ? 20 : 4;
constexpr int jobs_each = plain ? 20'000 : 2'000;
constexpr int reads_each = plain ? 200 : 40;
constexpr std::size_t posters = 2, readers = 8;

task<> read_as_task(const wire& from, std::atomic<long>& reads) {
  for (int i = 0; i < reads_each; ++i) {
    auto ready = co_await within(1h, readable(from.fd()));
    REQUIRE(ready.has_value());
    if (from.take()) ++reads;
  }
}

void read_as_fiber(const wire& from, std::atomic<long>& reads) {
  for (int i = 0; i < reads_each; ++i) {
    REQUIRE(await(readable(from.fd())).has_value());
    if (from.take()) ++reads;
  }
}

// Does not let go of its worker for longer than a watch takes to come, three times.
task<> hold() {
  for (int i = 0; i < 3; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < 25ms) std::this_thread::yield();
    co_await yield();
  }
}

}  // namespace

TEST_CASE("jobs, I/O and a coroutine that holds its worker beside each other: all run, once each") {
  for (const std::size_t workers : {2u, 4u}) {
    CAPTURE(workers);
    for (int round = 0; round < rounds; ++round) {
      readiness_drivers io(static_cast<std::uint32_t>(1 + round % 8));
      const std::vector<wire> lines(readers);
      std::atomic<long> done{0}, reads{0};
      hocket::runtime rt({.workers = workers});
      auto holder = spawn(rt, hold);
      std::vector<join_handle<>> all;
      for (std::size_t i = 0; i < readers; ++i) {
        if (i % 2 == 0) all.push_back(spawn(rt, read_as_task, std::cref(lines[i]), std::ref(reads)));
        else all.push_back(spawn(rt, read_as_fiber, std::cref(lines[i]), std::ref(reads)));
      }
      std::vector<std::thread> threads;
      for (std::size_t p = 0; p < posters; ++p)
        threads.emplace_back([&, p] {
          for (int i = 0; i < jobs_each; ++i) {
            post(rt, [&done] { ++done; });
            if (i % 64 == 0) lines[(p + static_cast<std::size_t>(i) / 64) % readers].send();
          }
        });
      for (std::thread& one : threads) one.join();
      while (done != static_cast<long>(posters) * jobs_each) std::this_thread::yield();
      for (std::size_t i = 0; i < readers; ++i) {
        while (!all[i].done()) {
          lines[i].send();
          std::this_thread::yield();
        }
      }
      sync_wait(std::move(holder));
      CHECK(reads == static_cast<long>(readers) * reads_each);
    }
  }
}
