#include <hocket/base/seam/mutex.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;

static_assert(sizeof(primitive::thread_mutex) == 4, "as promised");

TEST_CASE("a mutex can be locked again after its unlock") {
  primitive::thread_mutex mutex;
  for (int round = 0; round < 3; ++round) {
    mutex.lock();
    mutex.unlock();
  }
  CHECK(true);  // reached
}

TEST_CASE("threads that contend exclude each other and none sleeps for ever") {
  constexpr int threads = 4, each = 20'000;
  primitive::thread_mutex mutex;
  int count = 0;  // TSan sees it if the mutex orders nothing
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      for (int i = 0; i < each; ++i) {
        primitive::locked guard(mutex);
        ++count;
      }
    });
  }
  for (auto& thread : all) thread.join();
  CHECK(count == threads * each);
}

TEST_CASE("a guard unlocks also when an exception leaves its scope") {
  primitive::thread_mutex mutex;
  try {
    primitive::locked guard(mutex);
    throw 1;
  } catch (int) {
  }
  primitive::locked again(mutex);
  CHECK(true);  // not blocked
}

TEST_CASE("a waiting thread gets the mutex when its holder lets go, and sees what was done under it") {
  for (int round = 0; round < 500; ++round) {
    primitive::thread_mutex mutex;
    int value = 0;
    mutex.lock();
    std::thread waiting([&] {
      primitive::locked guard(mutex);
      value = value * 2;
    });
    value = 21;
    mutex.unlock();
    waiting.join();
    CHECK(value == 42);
  }
}

TEST_CASE("a mutex that is held is not taken by try_lock(), a free one is") {
  primitive::thread_mutex mutex;
  CHECK(mutex.try_lock());
  CHECK_FALSE(mutex.try_lock());
  mutex.unlock();
  CHECK(mutex.try_lock());
  mutex.unlock();
}

TEST_CASE("in the child of a fork nobody is counted as a sleeper") {
  detail::prepare_asymmetric_fences();
  primitive::thread_mutex mutex;
  detail::sleepers_near(&mutex).fetch_add(1);
  const auto end = hocket_test::end_of_child([&] { CHECK(detail::sleepers_near(&mutex) == 0); });
  CHECK(end.how == "the body returned");
  CHECK(detail::sleepers_near(&mutex) == 1);
  detail::sleepers_near(&mutex).fetch_sub(1);
}
