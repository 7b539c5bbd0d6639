// The wait for a hooked mutex: what ends it, and other owners of the mutex.
#include "mutexes.hpp"

#include <atomic>
#include <mutex>
#include <support/death.hpp>
#include <thread>
#include <vector>

using namespace hooked_tests;

TEST_CASE("a limit of the lock itself ends its wait, by either clock") {
  loop lp;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  bool over = false;
  auto owner = own(lp, [&] {
    ::pthread_mutex_lock(&mutex);
    while (!over) await(yield());
    ::pthread_mutex_unlock(&mutex);
  });
  auto other = own(lp, [&] {
    const timespec real = in(CLOCK_REALTIME, 5), steady = in(CLOCK_MONOTONIC, 5), wrong{0, 1'000'000'000};
    CHECK(::pthread_mutex_timedlock(&mutex, &real) == ETIMEDOUT);
    CHECK(::pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
    CHECK(::pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &steady) == EINVAL);
    CHECK(::pthread_mutex_timedlock(&mutex, &wrong) == EINVAL);
    over = true;
    const timespec later = in(CLOCK_REALTIME, 60'000);
    CHECK(::pthread_mutex_timedlock(&mutex, &later) == 0);
    ::pthread_mutex_unlock(&mutex);
    CHECK(::pthread_mutex_timedlock(&mutex, &wrong) == 0);  // the mutex is free: the time is not checked
    ::pthread_mutex_unlock(&mutex);
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

TEST_CASE("a waiter that gives up leaves the queue to the waiters behind it, also if another thread holds the mutex") {
  loop lp;
  std::mutex mutex;
  std::atomic<bool> held{false}, over{false};
  std::thread other([&] {
    const std::lock_guard guard(mutex);
    held = true;
    while (!over) std::this_thread::yield();
  });
  while (!held) std::this_thread::yield();
  auto impatient = own(lp, [&] {
    const timespec soon = in(CLOCK_REALTIME, 1);
    CHECK(::pthread_mutex_timedlock(mutex.native_handle(), &soon) == ETIMEDOUT);
    over = true;
  });
  int acquired = 0;
  for (int i = 0; i < 3; ++i)
    static_cast<void>(own(lp, [&] {
      const std::lock_guard guard(mutex);
      ++acquired;
    }));
  lp.run();
  other.join();
  sync_wait(impatient);
  CHECK(acquired == 3);
}

TEST_CASE("a mutex of another thread is waited for while the other fibers run") {
  loop lp;
  std::mutex mutex;
  std::atomic<bool> held{false}, go{false};
  std::thread other([&] {
    const std::lock_guard guard(mutex);
    held = true;
    while (!go) std::this_thread::yield();
  });
  while (!held) std::this_thread::yield();
  auto waits = own(lp, [&] {
    const std::lock_guard guard(mutex);
    CHECK(go);
  });
  auto runs = spawn(lp, [&] {
    for (int i = 0; i < 1000; ++i) await(yield());
    go = true;
  });
  lp.run();
  sync_wait(waits);
  sync_wait(runs);
  other.join();
}

TEST_CASE("neither a cancel nor a kill nor a deadline ends the wait for a mutex: the fiber holds it when it resumes") {
  for (const stop_level level : {stop_level::none, stop_level::cancel, stop_level::kill}) {
    loop lp;
    std::mutex mutex;
    bool over = false, acquired = false;
    auto owner = own(lp, [&] {
      const std::lock_guard guard(mutex);
      while (!over) await(yield());
    });
    auto other = spawn(lp, {.within = 1ms},
                       hook::hooked(
                           [&] {
                             const std::unique_lock guard(mutex);
                             CHECK(over);
                             acquired = true;
                             if (level == stop_level::kill) {
                               CHECK(::recv(-1, nullptr, 0, 0) == -1);
                               CHECK(errno == ECANCELED);
                             }
                           },
                           with_mutexes));
    auto third = spawn(lp, [&] {
      await(sleep_for(3ms));
      if (level == stop_level::cancel) other.cancel();
      if (level == stop_level::kill) other.kill();
      for (int i = 0; i < 10; ++i) await(yield());
      CHECK_FALSE(acquired);
      over = true;
    });
    lp.run();
    sync_wait(owner);
    sync_wait(third);
    CHECK(acquired);
  }
}

TEST_CASE("a destructor that the unwinding of a kill runs waits for a mutex") {
  loop lp;
  std::mutex mutex;
  bool over = false, unwound = false;
  struct locks_at_end {
    std::mutex& mutex;
    bool& over;
    bool& unwound;
    ~locks_at_end() {
      const std::lock_guard guard(mutex);
      CHECK(over);
      unwound = true;
    }
  };
  auto killed = own(lp, [&] {
    const locks_at_end end{mutex, over, unwound};
    static_cast<void>(await(sleep_for(1h)));
    FAIL("a killed fiber went on");
  });
  auto owner = own(lp, [&] {
    const std::lock_guard guard(mutex);
    killed.kill();
    others_run();
    CHECK_FALSE(unwound);
    over = true;
  });
  lp.run();
  CHECK(unwound);
}

TEST_CASE("a wait for a mutex leaves errno as it was") {
  loop lp;
  std::mutex mutex;
  auto owner = own(lp, [&] {
    const std::lock_guard guard(mutex);
    others_run();
    errno = EBADF;
  });
  auto other = own(lp, [&] {
    errno = E2BIG;
    const std::lock_guard guard(mutex);
    CHECK(errno == E2BIG);
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

TEST_CASE("a limit that has passed long ago is no error of the caller's") {
  loop lp;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  auto owner = own(lp, [&] {
    ::pthread_mutex_lock(&mutex);
    others_run();
    ::pthread_mutex_unlock(&mutex);
  });
  auto other = own(lp, [&] {
    const timespec before_all{-1, 0};
    CHECK(::pthread_mutex_timedlock(&mutex, &before_all) == ETIMEDOUT);
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

TEST_CASE("workers, threads and fibers count under one mutex, and hold it over waits") {
  constexpr int fibers = 40, rounds = 50;
  runtime rt({.workers = 2});
  std::mutex plain;
  std::recursive_mutex recursive;
  int count = 0, deep = 0;
  std::vector<join_handle<>> all;
  for (int i = 0; i < fibers; ++i)
    all.push_back(spawn(rt, hook::hooked(
                                [&] {
                                  for (int round = 0; round < rounds; ++round) {
                                    {
                                      const std::lock_guard guard(plain);
                                      if (round % 16 == 0) others_run();
                                      ++count;
                                    }
                                    const std::lock_guard outer(recursive);
                                    if (round % 16 == 0) others_run();
                                    const std::lock_guard inner(recursive);
                                    ++deep;
                                  }
                                },
                                with_mutexes)));
  std::thread thread([&] {
    for (int round = 0; round < rounds; ++round) {
      const std::lock_guard guard(plain);
      ++count;
    }
  });
  for (auto& fiber : all) sync_wait(fiber);
  thread.join();
  CHECK(count == (fibers + 1) * rounds);
  CHECK(deep == fibers * rounds);
}

TEST_CASE("a copied stack cannot wait for a mutex: fatal") {
  hocket_test::expect_fatal(
      [] {
        loop lp;
        std::mutex mutex;
        auto owner = own(lp, [&] {
          const std::lock_guard guard(mutex);
          others_run();
        });
        auto other = spawn(lp, {.stack = stack_kind::copied},
                           hook::hooked([&] { const std::lock_guard guard(mutex); }, with_mutexes));
        lp.run();
      },
      "the wait for a mutex");
}
