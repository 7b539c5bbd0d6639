#include <hocket/runtime/seam/detached_threads.hpp>

#include "support/death.hpp"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using detail::detached_threads;

namespace {

// Jobs wait here until the test opens it.
class barrier_gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ == count; });
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool is_open_ = false;
};

struct record {
  barrier_gate gate;
  std::mutex mutex;
  std::vector<int> order;
  std::atomic<int> destroyed{0};
};

class job final : public detached_threads::job {
 public:
  job(std::shared_ptr<record> shared, int number) : shared_(std::move(shared)), number_(number) {}
  ~job() override { ++shared_->destroyed; }
  void run() noexcept override {
    shared_->gate.wait();
    const std::lock_guard lock(shared_->mutex);
    shared_->order.push_back(number_);
  }

 private:
  std::shared_ptr<record> shared_;
  int number_;
};

// The threads use it after the test. A leak checker finds it by the list.
detached_threads& threads_of(std::size_t threads, std::size_t queue) {
  static auto* const all = new std::vector<std::unique_ptr<detached_threads>>;
  const detached_threads::limits limits{.threads = threads, .queue = queue, .name = "test"};
  return *all->emplace_back(std::make_unique<detached_threads>(limits));
}

void wait_for_end(detached_threads& threads) {
  while (threads.running() != 0) std::this_thread::yield();
}

}  // namespace

TEST_CASE("jobs run on at most so many detached threads, queue in order, and are refused beyond the queue") {
  const auto shared = std::make_shared<record>();
  detached_threads& threads = threads_of(1, 2);
  CHECK(threads.post(std::make_unique<job>(shared, 0)));
  shared->gate.wait_for(1);
  CHECK(threads.post(std::make_unique<job>(shared, 1)));
  CHECK(threads.post(std::make_unique<job>(shared, 2)));
  CHECK_FALSE(threads.post(std::make_unique<job>(shared, 3)));
  CHECK(shared->destroyed == 1);  // the refused job
  CHECK(shared->gate.waiting() == 1);
  CHECK(threads.running() == 1);
  shared->gate.open();
  wait_for_end(threads);
  CHECK(shared->order == std::vector<int>{0, 1, 2});
  CHECK(shared->destroyed == 4);
}

TEST_CASE("without a queue a job runs at once or is refused; threads that have ended make room") {
  const auto shared = std::make_shared<record>();
  detached_threads& threads = threads_of(2, 0);
  CHECK(threads.post(std::make_unique<job>(shared, 0)));
  CHECK(threads.post(std::make_unique<job>(shared, 1)));
  CHECK_FALSE(threads.post(std::make_unique<job>(shared, 2)));
  shared->gate.wait_for(2);
  shared->gate.open();
  wait_for_end(threads);
  CHECK(threads.post(std::make_unique<job>(shared, 3)));
  wait_for_end(threads);
  CHECK(shared->order.size() == 3);
}

TEST_CASE("a job that is posted while the last thread ends is not refused, and runs") {
  class counted final : public detached_threads::job {
   public:
    explicit counted(std::atomic<int>& runs) : runs_(runs) {}
    void run() noexcept override { ++runs_; }

   private:
    std::atomic<int>& runs_;
  };
  constexpr int jobs = 5000;
  std::atomic<int> runs{0};
  detached_threads& threads = threads_of(1, jobs);
  int refused = 0;
  for (int i = 0; i < jobs; ++i) refused += !threads.post(std::make_unique<counted>(runs));
  wait_for_end(threads);
  CHECK(refused == 0);
  CHECK(runs == jobs);
}

TEST_CASE("a child by fork() has detached threads of its own, beside stuck ones of the parent") {
  const auto shared = std::make_shared<record>();
  detached_threads& threads = threads_of(1, 10);
  CHECK(threads.post(std::make_unique<job>(shared, 0)));
  CHECK(threads.post(std::make_unique<job>(shared, 1)));
  shared->gate.wait_for(1);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto own = std::make_shared<record>();
    own->gate.open();
    if (!threads.post(std::make_unique<job>(own, 7))) ::_exit(1);
    wait_for_end(threads);
    ::_exit(own->order == std::vector<int>{7} && shared->order.empty() ? 0 : 2);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  shared->gate.open();
  wait_for_end(threads);
  CHECK(shared->order == std::vector<int>{0, 1});
}

TEST_CASE("a detached job that writes to a closed pipe gets an error, and no signal ends the process") {
  class writer final : public detached_threads::job {
   public:
    explicit writer(std::atomic<int>& error) : error_(error) {}
    void run() noexcept override {
      int ends[2];
      if (::pipe(ends) != 0) return;
      ::close(ends[0]);
      error_ = ::write(ends[1], "x", 1) < 0 ? errno : 0;
      ::close(ends[1]);
    }

   private:
    std::atomic<int>& error_;
  };
  std::atomic<int> error{0};
  detached_threads& threads = threads_of(1, 0);
  CHECK(threads.post(std::make_unique<writer>(error)));
  wait_for_end(threads);
  CHECK(error == EPIPE);
}

TEST_CASE("the end of the process does not wait for a detached thread") {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto shared = std::make_shared<record>();
    detached_threads& threads = threads_of(1, 0);
    if (!threads.post(std::make_unique<job>(shared, 0))) ::_exit(1);
    shared->gate.wait_for(1);
    std::exit(0);
  }
  int status = -1;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
