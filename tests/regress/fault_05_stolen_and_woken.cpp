// Fault 5: two take one coroutine out of a queue, and it runs twice at a time, or one is lost. Tasks are stolen while
// others wake them: none runs on two workers at once, and each runs as often as it was resumed. Every schedule of an
// owner and its thieves: tests/model/core/{stealable_queue,fork_deque}_test.cpp.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/semaphore.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

constexpr int tasks = 200;
constexpr int rounds = detail::sanitizer == detail::sanitizer_kind::plain ? 1'000 : 60;

struct player {
  semaphore turn{0};
  std::atomic<bool> running{false};
  std::atomic<int>* doubles = nullptr;
  long runs = 0;  // unprotected: whoever resumes it sees what it did before

  void enters() {
    if (running.exchange(true)) ++*doubles;
    ++runs;
  }
  task<long> body() {
    for (int i = 0; i < rounds; ++i) {
      enters();
      running = false;
      co_await yield();
      enters();
      running = false;
      auto mine = co_await turn.acquire();
      mine->forget();
    }
    co_return runs;
  }
};

}  // namespace

TEST_CASE("fault 5: a task that is stolen and woken at the same time runs on one worker, as often as it was resumed") {
  for (const std::size_t workers : {2u, 4u, 8u}) {
    CAPTURE(workers);
    std::atomic<int> doubles{0};
    std::vector<player> all(tasks);
    hocket::runtime rt({.workers = workers});
    std::vector<join_handle<long>> handles;
    for (player& one : all) {
      one.doubles = &doubles;
      handles.push_back(spawn(rt, &player::body, &one));
    }
    std::thread waker([&] {
      for (int i = 0; i < rounds; ++i) {
        for (player& one : all) one.turn.release();
      }
    });
    long sum = 0;
    for (auto& handle : handles) sum += sync_wait(std::move(handle));
    waker.join();
    CHECK(sum == 2L * tasks * rounds);
    CHECK(doubles == 0);
  }
}
