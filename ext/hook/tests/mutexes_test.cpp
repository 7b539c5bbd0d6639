// FAULTS 17: a fiber waits while it holds a mutex of its thread. Here fibers own such mutexes: each kind, and the
// callers beside them.
#include "mutexes.hpp"

#include <algorithm>
#include <mutex>
#include <random>
#include <support/death.hpp>
#include <vector>

using namespace hooked_tests;

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
          others_run();
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

TEST_CASE("an error-checking mutex distinguishes its fiber from the others of the thread") {
  loop lp;
  kind k(PTHREAD_MUTEX_ERRORCHECK);
  bool held = false;
  auto owner = own(lp, [&] {
    CHECK(::pthread_mutex_lock(&k.mutex) == 0);
    CHECK(::pthread_mutex_lock(&k.mutex) == EDEADLK);
    held = true;
    others_run();
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

TEST_CASE("the owner of a recursive mutex locks it again, however many wait for it") {
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
  std::vector<std::recursive_mutex> mutexes(8000);
  std::vector<std::recursive_mutex*> all;  // a random choice of them
  for (auto& mutex : mutexes) all.push_back(&mutex);
  std::shuffle(all.begin(), all.end(), std::mt19937(7));
  all.resize(under_tsan ? 50 : 1000);
  std::size_t given_back = 0;
  auto owner = own(lp, [&] {
    for (auto* mutex : all) mutex->lock();
    await(yield());
    for (; given_back < all.size(); ++given_back) {
      if (given_back == all.size() / 2) await(yield());
      all[given_back]->unlock();
    }
  });
  auto other = own(lp, [&] {
    for (auto* mutex : all) CHECK_FALSE(mutex->try_lock());
    await(yield());
    CHECK(given_back == all.size() / 2);
    for (std::size_t i = given_back; i < all.size(); ++i) CHECK_FALSE(all[i]->try_lock());
    for (auto* mutex : all) {
      const std::lock_guard guard(*mutex);
      CHECK(mutex->try_lock());
      mutex->unlock();
    }
  });
  lp.run();
  sync_wait(owner);
  sync_wait(other);
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

TEST_CASE("a mutex that a scope has locked may be unlocked after it") {
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

TEST_CASE("the owner locks it again after its scope, also with a limit") {
  loop lp;
  std::recursive_timed_mutex mutex;
  auto fiber = spawn(lp, [&] {
    {
      const hook::scope in(with_mutexes);
      mutex.lock();
    }
    CHECK(mutex.try_lock_for(1ms));
    mutex.unlock();
    others_run();
    mutex.unlock();
  });
  auto other = own(lp, [&] {
    CHECK_FALSE(mutex.try_lock());
    const std::lock_guard guard(mutex);
  });
  lp.run();
  sync_wait(fiber);
  sync_wait(other);
}

TEST_CASE("a fiber owns what it locks while it may not park") {
  static bool free = true;
  loop lp;
  std::recursive_mutex mutex;
  bool inside = false;
  const auto locks = [&] {
    const std::lock_guard guard(mutex);
    CHECK_FALSE(std::exchange(inside, true));
    free = true;
    others_run();
    inside = false;
  };
  auto fiber = spawn(lp, hook::hooked(
                             [&] {
                               free = false;
                               locks();
                             },
                             {.mutexes = true, .may_park = [] { return free; }}));
  auto other = own(lp, locks);
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
            others_run();
          });
          auto other = spawn(lp, [&]() -> task<> {
            ::pthread_mutex_lock(&k.mutex);
            co_return;
          });
          lp.run();
        },
        "would block it for ever");
}

TEST_CASE("a task that locks a fiber's recursive mutex with a limit: fatal, too") {
  hocket_test::expect_fatal(
      [] {
        loop lp;
        std::recursive_timed_mutex mutex;
        auto owner = own(lp, [&] {
          mutex.lock();
          others_run();
        });
        auto other = spawn(lp, [&]() -> task<> {
          static_cast<void>(mutex.try_lock_for(1ms));
          co_return;
        });
        lp.run();
      },
      "would block it for ever");
}

TEST_CASE("a task that only tries gets EBUSY if a fiber of its thread holds the mutex") {
  for (const int which : all_kinds) {
    loop lp;
    kind k(which);
    auto owner = own(lp, [&] {
      ::pthread_mutex_lock(&k.mutex);
      others_run();
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
