// FAULTS 17: a fiber waits while it holds a mutex of its thread. Here fibers own such mutexes: each kind, and who else
// may come.
#include "blocking.hpp"

#include <mutex>
#include <pthread.h>
#include <support/death.hpp>
#include <thread>
#include <time.h>
#include <vector>

using namespace hooked_tests;

namespace {

// TSan takes a second unlock for a fault, and knows 64 mutexes of a thread.
constexpr bool under_tsan = hocket::detail::sanitizer == hocket::detail::sanitizer_kind::tsan;

constexpr hook::options with_mutexes{.mutexes = true};

struct kind {
  explicit kind(int which) {
    pthread_mutexattr_t how;
    ::pthread_mutexattr_init(&how);
    ::pthread_mutexattr_settype(&how, which);
    REQUIRE(::pthread_mutex_init(&mutex, &how) == 0);
    ::pthread_mutexattr_destroy(&how);
  }
  kind(const kind&) = delete;
  kind& operator=(const kind&) = delete;
  ~kind() { ::pthread_mutex_destroy(&mutex); }
  pthread_mutex_t mutex;
};

constexpr int all_kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                             PTHREAD_MUTEX_ADAPTIVE_NP};

template <class F>
auto own(loop& lp, F f) {
  return spawn(lp, hook::hooked(std::move(f), with_mutexes));
}

timespec in(clockid_t clock, long milliseconds) {
  timespec time{};
  ::clock_gettime(clock, &time);
  const long nanoseconds = time.tv_nsec + milliseconds * 1'000'000;
  return {time.tv_sec + nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
}

}  // namespace

TEST_CASE("a mutex that is held over a wait keeps the other fibers of the thread out, in the order of their coming") {
  for (const int which : all_kinds) {
    loop lp;
    kind k(which);
    std::string order;
    bool inside = false;
    for (char name = 'a'; name < 'g'; ++name)
      static_cast<void>(own(lp, [&, name] {
        for (int round = 0; round < 3; ++round) {
          CHECK(::pthread_mutex_lock(&k.mutex) == 0);
          CHECK_FALSE(std::exchange(inside, true));
          order += name;
          ::usleep(100);
          inside = false;
          CHECK(::pthread_mutex_unlock(&k.mutex) == 0);
        }
      }));
    lp.run();
    CHECK(order == "abcdefabcdefabcdef");
  }
}

TEST_CASE("a recursive mutex is its fiber's until it has unlocked as often as it has locked") {
  loop lp;
  kind k(PTHREAD_MUTEX_RECURSIVE);
  int held = 0;
  auto owner = own(lp, [&] {
    for (int i = 0; i < 3; ++i) CHECK(::pthread_mutex_lock(&k.mutex) == 0);
    CHECK(::pthread_mutex_trylock(&k.mutex) == 0);
    for (held = 4; held > 0; --held) {
      await(yield());
      CHECK(::pthread_mutex_unlock(&k.mutex) == 0);
    }
    if (!under_tsan) CHECK(::pthread_mutex_unlock(&k.mutex) == EPERM);
  });
  auto other = own(lp, [&] {
    CHECK(held != 0);
    CHECK(::pthread_mutex_trylock(&k.mutex) == EBUSY);
    CHECK(::pthread_mutex_unlock(&k.mutex) == EPERM);
    CHECK(::pthread_mutex_lock(&k.mutex) == 0);
    CHECK(held == 0);
    CHECK(::pthread_mutex_unlock(&k.mutex) == 0);
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

TEST_CASE("an error-checking mutex tells its fiber from the others of the thread") {
  loop lp;
  kind k(PTHREAD_MUTEX_ERRORCHECK);
  bool held = false;
  auto owner = own(lp, [&] {
    CHECK(::pthread_mutex_lock(&k.mutex) == 0);
    CHECK(::pthread_mutex_lock(&k.mutex) == EDEADLK);
    held = true;
    ::usleep(100);
    held = false;
    CHECK(::pthread_mutex_unlock(&k.mutex) == 0);
  });
  auto other = own(lp, [&] {
    CHECK(held);
    CHECK(::pthread_mutex_unlock(&k.mutex) == EPERM);
    CHECK(::pthread_mutex_lock(&k.mutex) == 0);
    CHECK_FALSE(held);
    CHECK(::pthread_mutex_unlock(&k.mutex) == 0);
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

TEST_CASE("who owns a recursive mutex locks it again, however many stand in line") {
  loop lp;
  kind k(PTHREAD_MUTEX_RECURSIVE);
  auto owner = own(lp, [&] {
    ::pthread_mutex_lock(&k.mutex);
    await(yield());
    CHECK(::pthread_mutex_lock(&k.mutex) == 0);
    ::pthread_mutex_unlock(&k.mutex);
    ::pthread_mutex_unlock(&k.mutex);
  });
  auto other = own(lp, [&] {
    ::pthread_mutex_lock(&k.mutex);
    ::pthread_mutex_unlock(&k.mutex);
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

TEST_CASE("many recursive mutexes are held at once, and given back in any order") {
  loop lp;
  std::vector<std::recursive_mutex> all(under_tsan ? 50 : 1000);
  auto owner = own(lp, [&] {
    for (auto& one : all) one.lock();
    await(yield());
    for (std::size_t i = 0; i < all.size(); ++i) all[i * 7 % all.size()].unlock();
  });
  auto other = own(lp, [&] {
    for (auto& one : all) CHECK_FALSE(one.try_lock());
    for (auto& one : all) {
      const std::lock_guard guard(one);
      CHECK(one.try_lock());
      one.unlock();
    }
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

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
    CHECK(::pthread_mutex_timedlock(&mutex, &wrong) == 0);  // free: nobody looks at the time
    ::pthread_mutex_unlock(&mutex);
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
}

TEST_CASE("who gave up waiting leaves the line to those behind it, also if another thread has the mutex") {
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
  int got = 0;
  for (int i = 0; i < 3; ++i)
    static_cast<void>(own(lp, [&] {
      const std::lock_guard guard(mutex);
      ++got;
    }));
  lp.run();
  other.join();
  sync_wait(impatient);
  CHECK(got == 3);
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

TEST_CASE("neither a cancel nor a kill nor a deadline ends the wait for a mutex: the fiber has it when it goes on") {
  for (const stop_level level : {stop_level::none, stop_level::cancel, stop_level::kill}) {
    loop lp;
    std::mutex mutex;
    bool over = false, got = false;
    auto owner = own(lp, [&] {
      const std::lock_guard guard(mutex);
      while (!over) await(yield());
    });
    auto other = spawn(lp, {.within = 1ms},
                       hook::hooked(
                           [&] {
                             const std::unique_lock guard(mutex);
                             CHECK(over);
                             got = true;
                             if (level == stop_level::kill) {
                               CHECK(::usleep(1) == -1);
                               CHECK(errno == ECANCELED);
                             }
                           },
                           with_mutexes));
    auto third = spawn(lp, [&] {
      await(sleep_for(3ms));
      if (level == stop_level::cancel) other.cancel();
      if (level == stop_level::kill) other.kill();
      for (int i = 0; i < 10; ++i) await(yield());
      CHECK_FALSE(got);
      over = true;
    });
    lp.run();
    sync_wait(owner);
    sync_wait(third);
    CHECK(got);
  }
}

TEST_CASE("a scope without the option leaves mutexes to libc, an inner one has what the outer has") {
  loop lp;
  std::mutex mutex;
  auto fiber = spawn(lp, [&] {
    const auto calls_of_lock = [&] {
      const auto before = hook::collect_statistics().calls;
      const std::lock_guard guard(mutex);
      return hook::collect_statistics().calls - before;
    };
    CHECK(calls_of_lock() == 0);
    const hook::scope outer;
    CHECK(calls_of_lock() == 0);
    {
      const hook::scope with(with_mutexes);
      CHECK(calls_of_lock() == 1);
      const hook::scope inner;
      CHECK(calls_of_lock() == 1);
    }
    CHECK(calls_of_lock() == 0);
  });
  lp.run();
  sync_wait(fiber);
}

TEST_CASE("what a scope has locked may be unlocked after it") {
  loop lp;
  std::recursive_mutex mutex;
  auto fiber = spawn(lp, [&] {
    {
      const hook::scope in(with_mutexes);
      mutex.lock();
    }
    CHECK(mutex.try_lock());
    mutex.lock();
    for (int i = 0; i < 3; ++i) mutex.unlock();
  });
  auto other = own(lp, [&] { const std::lock_guard guard(mutex); });
  lp.run();
  sync_wait(fiber);
  sync_wait(other);
}

TEST_CASE("a mutex that a fiber holds is locked by a task of its thread: fatal, where it would block for ever") {
  for (const int which : {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE})
    hocket_test::expect_fatal(
        [which] {
          loop lp;
          kind k(which);
          auto owner = own(lp, [&] {
            ::pthread_mutex_lock(&k.mutex);
            ::usleep(1000);
          });
          auto other = spawn(lp, [&]() -> task<> {
            ::pthread_mutex_lock(&k.mutex);
            co_return;
          });
          lp.run();
        },
        "would block the thread for ever");
}

TEST_CASE("whoever does not wait is told that a fiber of its thread holds it") {
  for (const int which : all_kinds) {
    loop lp;
    kind k(which);
    auto owner = own(lp, [&] {
      ::pthread_mutex_lock(&k.mutex);
      ::usleep(1000);
      ::pthread_mutex_unlock(&k.mutex);
    });
    auto other = spawn(lp, [&]() -> task<> {
      CHECK(::pthread_mutex_trylock(&k.mutex) == EBUSY);
      co_return;
    });
    lp.run();
    sync_wait(owner);
    sync_wait(other);
  }
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
                                      if (round % 16 == 0) ::usleep(1);
                                      ++count;
                                    }
                                    const std::lock_guard outer(recursive);
                                    if (round % 16 == 0) ::usleep(1);
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
  for (auto& one : all) sync_wait(one);
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
          ::usleep(1000);
        });
        auto other = spawn(lp, {.stack = stack_kind::copied},
                           hook::hooked([&] { const std::lock_guard guard(mutex); }, with_mutexes));
        lp.run();
      },
      "the wait for a mutex");
}
