// The shared mutex, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <vector>

namespace hocket_test {

template <class Kind>
using shared_mutex_of = hocket::basic_shared_mutex<typename Kind::strength>;

TEST_CASE_TEMPLATE("a free shared mutex is locked without waiting, by one writer or by several readers", Kind,
                   HOCKET_SUITE_KINDS) {
  shared_mutex_of<Kind> m;
  Kind world;
  auto lock = [&]() -> typename Kind::body {
    {
      auto writer = co_await m.lock();
      CHECK(writer.has_value());
      CHECK_FALSE(m.try_lock());
      CHECK_FALSE(m.try_lock_shared());
    }
    auto reader = co_await m.lock_shared();
    CHECK(reader.has_value());
    auto second = m.try_lock_shared();
    CHECK(static_cast<bool>(second));
    CHECK_FALSE(m.try_lock());
    reader->unlock();
    CHECK_FALSE(m.try_lock());
    second.unlock();
    CHECK(static_cast<bool>(m.try_lock()));
  };
  int only = world.start(lock);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

// A coroutine that locks, notes its number and waits until it is told to go on: positive numbers write.
template <class Kind>
struct lockers {
  shared_mutex_of<Kind> m;
  record_of<Kind, int> got;
  std::vector<hocket::basic_event<typename Kind::strength>> go{10};

  auto body() {
    return [this](int n) -> typename Kind::body {
      auto& mine = go[static_cast<std::size_t>(n < 0 ? -n : n)];
      if (n > 0) {
        auto held = co_await m.lock();
        if (!held) co_return;
        got.push_back(n);
        (void)co_await mine.wait();
      } else {
        auto held = co_await m.lock_shared();
        if (!held) co_return;
        got.push_back(n);
        (void)co_await mine.wait();
      }
    };
  }
};

TEST_CASE_TEMPLATE("a shared mutex is had in the order of coming, by readers in a row together", Kind,
                   HOCKET_SUITE_KINDS) {
  lockers<Kind> all;
  Kind world;
  auto body = all.body();
  for (int n : {-1, -2, 3, -4, -5, 6, -7}) {
    world.start(body, n);
    world.settle();
  }
  CHECK(all.got == std::vector{-1, -2});  // the readers who came after the writer wait
  CHECK_FALSE(all.m.try_lock_shared());
  all.go[1].set();
  world.settle();
  CHECK(all.got == std::vector{-1, -2});
  all.go[2].set();
  world.settle();
  CHECK(all.got == std::vector{-1, -2, 3});
  all.go[3].set();
  world.settle();
  CHECK(all.got == std::vector{-1, -2, 3, -4, -5});
  all.go[5].set();
  all.go[4].set();
  world.settle();
  CHECK(all.got == std::vector{-1, -2, 3, -4, -5, 6});
  all.go[6].set();
  world.settle();
  CHECK(all.got == std::vector{-1, -2, 3, -4, -5, 6, -7});
  CHECK_FALSE(all.m.try_lock());
  all.go[7].set();
  world.settle();
  CHECK(static_cast<bool>(all.m.try_lock()));
}

TEST_CASE_TEMPLATE("fault 13: when the writer at the head of the line is cancelled, the readers behind it are let in",
                   Kind, HOCKET_SUITE_KINDS) {
  lockers<Kind> all;
  Kind world;
  auto body = all.body();
  world.start(body, -1);
  world.settle();
  int writer = world.start(body, 2);
  world.settle();
  for (int n : {-3, -4, 5, -6}) {
    world.start(body, n);
    world.settle();
  }
  CHECK(all.got == std::vector{-1});
  world.cancel(writer);
  world.settle();
  CHECK(world.ended(writer) == fate::ended);
  CHECK(all.got == std::vector{-1, -3, -4});
  for (std::size_t n : {1u, 3u, 4u}) all.go[n].set();
  world.settle();
  CHECK(all.got == std::vector{-1, -3, -4, 5});
}

TEST_CASE_TEMPLATE("fault 13: the same when it times out, and when it is killed", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  shared_mutex_of<Kind> m;
  std::atomic<int> readers{0}, writers{0};
  std::error_code error;
  hocket::basic_event<typename Kind::strength> never;
  Kind world;
  auto read = [&]() -> typename Kind::body {
    auto held = co_await m.lock_shared();
    if (held) ++readers;
    (void)co_await never.wait();
  };
  auto write = [&](hocket::duration limit) -> typename Kind::body {
    auto held = co_await within(limit, m.lock());
    if (held) ++writers;
    else error = held.error();
  };
  world.start(read);
  world.settle();
  world.start(write, hocket::duration(10ms));
  world.settle();
  world.start(read);
  world.settle();
  CHECK(readers == 1);
  world.pass(10ms);
  CHECK(error == std::errc::timed_out);
  CHECK(readers == 2);
  int victim = world.start(write, hocket::duration::max());
  world.settle();
  world.start(read);
  world.settle();
  CHECK(readers == 2);
  world.kill(victim);
  world.settle();
  CHECK(world.ended(victim) == fate::killed);
  CHECK(readers == 3);
  CHECK(writers == 0);
}

TEST_CASE_TEMPLATE("a reader that is cancelled, timed out or killed in the line is passed over", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  shared_mutex_of<Kind> m;
  hocket::basic_event<typename Kind::strength> go;
  std::vector<std::error_code> ends(4);
  std::atomic<int> through{0};
  Kind world;
  auto write = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    (void)co_await go.wait();
  };
  auto read = [&](std::size_t n, hocket::duration limit) -> typename Kind::body {
    auto held = co_await within(limit, m.lock_shared());
    if (held) ++through;
    else ends[n] = held.error();
  };
  world.start(write);
  world.settle();
  int cancelled = world.start(read, 0u, hocket::duration::max());
  world.start(read, 1u, hocket::duration(5ms));
  int killed = world.start(read, 2u, hocket::duration(1s));
  world.start(read, 3u, hocket::duration::max());
  world.settle();
  world.cancel(cancelled);
  world.kill(killed);
  world.pass(5ms);
  CHECK(ends[0] == std::errc::operation_canceled);
  CHECK(ends[1] == std::errc::timed_out);
  CHECK(world.ended(killed) == fate::killed);
  CHECK(through == 0);
  go.set();
  world.settle();
  CHECK(through == 1);
  CHECK(static_cast<bool>(m.try_lock()));
}

TEST_CASE_TEMPLATE("fault 12: a shared mutex granted to one who is killed before it runs is not lost", Kind,
                   HOCKET_SUITE_KINDS) {
  for (bool writes : {false, true}) {
    shared_mutex_of<Kind> m;
    hocket::basic_event<typename Kind::strength> never, go;
    int victim = -1;
    Kind world;
    auto hold = [&]() -> typename Kind::body {
      auto held = co_await m.lock();
      auto set = co_await go.wait();
      CHECK(set.has_value());
      held->unlock();
      world.kill(victim);
    };
    auto wait = [&]() -> typename Kind::body {
      if (writes) {
        auto held = co_await m.lock();
        (void)co_await never.wait();
      } else {
        auto held = co_await m.lock_shared();
        (void)co_await never.wait();
      }
    };
    world.start(hold);
    world.settle();
    victim = world.start(wait);
    world.settle();
    go.set();
    world.settle();
    CHECK(world.ended(victim) == fate::killed);
    CHECK(static_cast<bool>(m.try_lock()));
  }
}

TEST_CASE_TEMPLATE("a shared mutex stands in a select, and is not held when another is chosen", Kind,
                   HOCKET_SUITE_KINDS) {
  shared_mutex_of<Kind> m;
  hocket::basic_event<typename Kind::strength> bell;
  std::optional<std::size_t> chosen;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    auto got = co_await select(m.lock(), bell.wait());
    chosen = got->index();
  };
  auto reader = m.try_lock_shared();
  world.start(choose);
  world.settle();
  CHECK_FALSE(m.try_lock_shared());
  bell.set();
  world.settle();
  CHECK(chosen == 1u);
  CHECK(static_cast<bool>(m.try_lock_shared()));
}

TEST_CASE_TEMPLATE("writers are alone in a shared mutex, over suspensions, and readers are not", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  constexpr int coroutines = 6, rounds = 4;
  shared_mutex_of<Kind> m;
  hocket::basic_event<typename Kind::strength> never;
  std::atomic<int> reading{0}, writing{0}, together{0}, wrong{0};
  int count = 0;
  Kind world;
  auto write = [&]() -> typename Kind::body {
    for (int i = 0; i < rounds; ++i) {
      auto held = co_await m.lock();
      if (++writing != 1 || reading != 0) ++wrong;
      int seen = count;
      (void)co_await within(1ms, never.wait());
      count = seen + 1;
      --writing;
    }
  };
  auto read = [&]() -> typename Kind::body {
    for (int i = 0; i < rounds; ++i) {
      auto held = co_await m.lock_shared();
      if (++reading > 1) ++together;
      if (writing != 0) ++wrong;
      int seen = count;
      (void)co_await within(1ms, never.wait());
      if (count != seen) ++wrong;
      --reading;
    }
  };
  std::vector<int> all;
  for (int i = 0; i < coroutines / 3; ++i) {
    all.push_back(world.start(write));
    all.push_back(world.start(read));
    all.push_back(world.start(read));
  }
  world.settle();
  for (int i = 0; i < coroutines * rounds; ++i) world.pass(1ms);
  for (int one : all) CHECK(world.ended(one) == fate::ended);
  CHECK(count == coroutines / 3 * rounds);
  CHECK(wrong == 0);
  CHECK(together > 0);
  CHECK(static_cast<bool>(m.try_lock()));
}

}  // namespace hocket_test
