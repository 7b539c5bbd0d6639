// In a program of its own, because it replaces pthread_create(3): the system starts no thread if the test says so.
#include <hocket/runtime/seam/detached_threads.hpp>

#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <pthread.h>
#include <thread>
#include <utility>

using hocket::detail::detached_threads;

namespace {

// Called instead of the next start, which fails.
std::function<void()> at_failing_start;

struct counts {
  std::atomic<int> run{0}, destroyed{0};
};

class job final : public detached_threads::job {
 public:
  explicit job(counts& of_test) : counts_(of_test) {}
  ~job() override { ++counts_.destroyed; }
  void run() noexcept override { ++counts_.run; }

 private:
  counts& counts_;
};

// The threads use it after the test.
detached_threads& threads_of(std::size_t threads, std::size_t queue) {
  return *new detached_threads({.threads = threads, .queue = queue, .name = "test"});
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (!at_failing_start) return real(thread, attributes, start, argument);
  std::exchange(at_failing_start, nullptr)();
  return EAGAIN;
}

TEST_CASE("a job without a thread is refused and destroyed, and the next job has a thread") {
  counts all;
  detached_threads& threads = threads_of(1, 10);
  at_failing_start = [] {};
  CHECK_FALSE(threads.post(std::make_unique<job>(all)));
  CHECK(all.destroyed == 1);
  CHECK(threads.running() == 0);
  CHECK(threads.post(std::make_unique<job>(all)));
  while (threads.running() != 0) std::this_thread::yield();
  CHECK(all.run == 1);
  CHECK(all.destroyed == 2);
}

TEST_CASE("a job whose thread does not start is queued for the threads that run") {
  counts all;
  detached_threads& threads = threads_of(2, 1);
  class blocked final : public detached_threads::job {
   public:
    explicit blocked(std::atomic<bool>& open) : open_(open) {}
    void run() noexcept override {
      while (!open_) std::this_thread::yield();
    }

   private:
    std::atomic<bool>& open_;
  };
  std::atomic<bool> open{false};
  CHECK(threads.post(std::make_unique<blocked>(open)));
  at_failing_start = [] {};
  CHECK(threads.post(std::make_unique<job>(all)));
  at_failing_start = [] {};
  CHECK_FALSE(threads.post(std::make_unique<job>(all)));  // the queue is full
  CHECK(all.destroyed == 1);
  open = true;
  while (threads.running() != 0) std::this_thread::yield();
  CHECK(all.run == 1);
}

TEST_CASE("jobs that were queued behind a thread that does not start are destroyed, and wait for no later job") {
  counts all;
  detached_threads& threads = threads_of(1, 100'000);
  constexpr int queued = 100'000;
  at_failing_start = [&] {
    for (int i = 0; i < queued; ++i) CHECK(threads.post(std::make_unique<job>(all)));
  };
  CHECK_FALSE(threads.post(std::make_unique<job>(all)));
  CHECK(all.destroyed == queued + 1);
  CHECK(all.run == 0);
  CHECK(threads.post(std::make_unique<job>(all)));
  while (threads.running() != 0) std::this_thread::yield();
  CHECK(all.run == 1);
}
