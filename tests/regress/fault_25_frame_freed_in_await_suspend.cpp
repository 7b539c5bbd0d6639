// FAULTS 25: a coroutine is resumed on another thread, runs to its end and is freed before the await_suspend that
// published it has returned. Run under ASan: nothing may touch the frame after that.
#include <hocket/coro/task.hpp>

#include "unit/coro/queue_executor.hpp"

#include "support/detached.hpp"
#include <atomic>

#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

// Does not return before the coroutine has ended, on another thread.
class finished_elsewhere {
 public:
  explicit finished_elsewhere(std::atomic<bool>& ended) : ended_(&ended) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    std::atomic<bool>& ended = *ended_;  // the awaiter is about to die
    std::thread([handle] { handle.resume(); }).detach();
    while (!ended.load()) std::this_thread::yield();
  }
  void await_resume() const noexcept {}

 private:
  std::atomic<bool>* ended_;
};

task<int> leaf(std::atomic<bool>& ended) {
  counted local;
  co_await finished_elsewhere(ended);
  co_return 5;
}

detached drive(std::atomic<bool>& ended, std::atomic<int>& sum) {
  {
    auto one = leaf(ended);
    sum += co_await std::move(one);  // its frame is destroyed here, while await_suspend still runs
  }
  ended = true;
}

}  // namespace

TEST_CASE("fault 25: a task ends and is freed while its await_suspend still runs") {
  for (int i = 0; i < 50; ++i) {
    std::atomic<bool> ended = false;
    std::atomic<int> sum = 0;
    drive(ended, sum);
    CHECK(sum == 5);
  }
  CHECK(counted::live == 0);
}
