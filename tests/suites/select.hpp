// select, for every kind.
#pragma once
#include <hocket/base/random.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include "suites/oneshot.hpp"
#include "suites/world.hpp"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <vector>

namespace hocket_test {

// One of each primitive, and who waits for the first of them.
template <class Kind>
struct four_sources {
  using strength = typename Kind::strength;
  hocket::basic_mutex<strength> mutex;
  hocket::basic_event<strength> event;
  hocket::basic_semaphore<strength> semaphore{0};
  decltype(oneshot_of<Kind, int>()) ends = oneshot_of<Kind, int>();

  auto any() { return hocket::select(mutex.lock(), event.wait(), semaphore.acquire(2), ends.receiver.receive()); }
};

TEST_CASE_TEMPLATE("a select gives the index and the value of what came, and leaves the others", Kind,
                   HOCKET_SUITE_KINDS) {
  for (std::size_t which : {0u, 1u, 2u, 3u}) {
    four_sources<Kind> of;
    std::optional<std::size_t> index;
    auto held = of.mutex.try_lock();
    Kind world;
    auto wait = [&]() -> typename Kind::body {
      auto got = co_await of.any();
      index = got->index();
      if (*index == 0) CHECK(static_cast<bool>(*got->template get<0>()));
      if (*index == 2) CHECK(got->template get<2>()->forget() == 2);
      if (*index == 3) CHECK(*got->template get<3>() == 7);
    };
    world.start(wait);
    world.settle();
    CHECK_FALSE(index);
    auto grant = [&](std::size_t n) {
      if (n == 0) held.unlock();
      if (n == 1) of.event.set();
      if (n == 2) of.semaphore.release(2);
      if (n == 3) of.ends.sender.send(7);
    };
    grant(which);
    for (std::size_t other : {0u, 1u, 2u, 3u})
      if (other != which) grant(other);
    world.settle();
    CHECK(index == which);
    CHECK(static_cast<bool>(of.mutex.try_lock()));
    CHECK(of.semaphore.available() == (which == 2 ? 0 : 2));
    CHECK(of.ends.receiver.is_ready());
    CHECK(static_cast<bool>(of.ends.receiver));
  }
}

TEST_CASE_TEMPLATE("a select in order takes the first of what is possible at once", Kind, HOCKET_SUITE_KINDS) {
  hocket::basic_semaphore<typename Kind::strength> none(0), some(3), more(3);
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    for (std::size_t left : {2u, 1u, 0u}) {
      auto got = co_await select_in_order(none.acquire(), some.acquire(), more.acquire());
      CHECK(got->index() == 1);
      CHECK(got->template get<1>()->forget() == 1);
      CHECK(some.available() == left);
      CHECK(more.available() == 3);
    }
    auto got = co_await select_in_order(none.acquire(), some.acquire(), more.acquire());
    CHECK(got->index() == 2);
  };
  int only = world.start(choose);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(more.available() == 3);
}

// While it lives, every thread takes this seed when it next needs chance.
class seeded {
 public:
  explicit seeded(std::uint64_t seed) {
    seed_ = seed;
    before_ = hocket::replace_seed_source([]() noexcept { return seed_.load(); });
  }
  seeded(const seeded&) = delete;
  seeded& operator=(const seeded&) = delete;
  ~seeded() { hocket::replace_seed_source(before_); }

 private:
  static inline std::atomic<std::uint64_t> seed_;
  hocket::seed_source before_;
};

TEST_CASE_TEMPLATE("of what is possible at once a select starves nothing, and the same seed repeats its choices", Kind,
                   HOCKET_SUITE_KINDS) {
  using strength = typename Kind::strength;
  hocket::basic_event<strength> set[3]{hocket::basic_event<strength>(true), hocket::basic_event<strength>(true),
                                       hocket::basic_event<strength>(true)};
  hocket::basic_event<strength> unset;
  std::vector<std::size_t> chosen[3];
  Kind world;
  auto choose = [&](std::size_t run) -> typename Kind::body {
    for (int i = 0; i < 400; ++i) {
      auto got = co_await select(set[0].wait(), unset.wait(), set[1].wait(), set[2].wait());
      chosen[run].push_back(got->index());
    }
  };
  for (std::size_t run = 0; run < 3; ++run) {
    const seeded chance(run == 2 ? 8 : 7);
    world.start(choose, run);
    world.settle();
  }
  for (std::size_t run = 0; run < 3; ++run) {
    REQUIRE(chosen[run].size() == 400);
    for (std::size_t index : {0u, 2u, 3u}) CHECK(std::count(chosen[run].begin(), chosen[run].end(), index) >= 70);
  }
  CHECK(chosen[0] == chosen[1]);
  CHECK(chosen[0] != chosen[2]);
}

TEST_CASE_TEMPLATE("two selects in turn are fair each, as one alone is", Kind, HOCKET_SUITE_KINDS) {
  using strength = typename Kind::strength;
  hocket::basic_event<strength> one(true), other(true);
  std::vector<std::size_t> firsts, seconds;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    for (int i = 0; i < 200; ++i) {
      auto first = co_await select(one.wait(), other.wait());
      auto second = co_await select(one.wait(), other.wait());
      firsts.push_back(first->index());
      seconds.push_back(second->index());
    }
  };
  const seeded chance(1);
  world.start(choose);
  world.settle();
  for (auto* choices : {&firsts, &seconds})
    for (std::size_t index : {0u, 1u}) CHECK(std::count(choices->begin(), choices->end(), index) >= 70);
}

TEST_CASE_TEMPLATE("try_select takes what is possible at once, and otherwise changes nothing", Kind,
                   HOCKET_SUITE_KINDS) {
  four_sources<Kind> of;
  auto held = of.mutex.try_lock();
  of.semaphore.release();  // one of the two that are asked for
  auto now = [&] {
    return hocket::try_select(of.mutex.lock(), of.event.wait(), of.semaphore.acquire(2), of.ends.receiver.receive());
  };
  Kind world;
  auto look = [&]() -> typename Kind::body {
    {
      auto none = now();
      CHECK(none.error() == std::errc::resource_unavailable_try_again);
    }
    CHECK(of.semaphore.available() == 1);
    of.semaphore.release();
    {
      auto got = now();
      REQUIRE(got);
      CHECK(got->index() == 2);
      CHECK(of.semaphore.available() == 0);
    }
    CHECK(of.semaphore.available() == 2);
    held.unlock();
    of.ends.sender.send(7);
    of.event.set();
    std::size_t chosen[4] = {};
    for (int i = 0; i < 200; ++i) {
      auto got = hocket::try_select(of.mutex.lock(), of.event.wait(), of.semaphore.acquire(2));
      ++chosen[got->index()];
    }
    for (std::size_t index : {0u, 1u, 2u}) CHECK(chosen[index] >= 30);
    auto last = hocket::try_select(of.ends.receiver.receive());
    CHECK(*last->template get<0>() == 7);
    co_return;
  };
  const seeded chance(3);
  int only = world.start(look);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("a select that is cancelled, timed out or killed leaves nothing behind", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    four_sources<Kind> of;
    auto held = of.mutex.try_lock();
    std::optional<std::error_code> error;
    Kind world;
    auto wait = [&]() -> typename Kind::body {
      auto got = co_await within(50ms, of.any());
      error = got.error();
    };
    int id = world.start(wait);
    world.settle();
    if (how == 0) world.cancel(id);
    if (how == 1) world.pass(50ms);
    if (how == 2) world.kill(id);
    world.settle();
    CHECK(world.ended(id) == (how == 2 ? fate::killed : fate::ended));
    if (how == 0) CHECK(*error == std::errc::operation_canceled);
    if (how == 1) CHECK(*error == std::errc::timed_out);
    held.unlock();
    CHECK(static_cast<bool>(of.mutex.try_lock()));
    of.semaphore.release();
    CHECK(of.semaphore.available() == 1);
    CHECK(of.ends.sender.send(1));
  }
}

TEST_CASE_TEMPLATE("the operations of a select may be of one kind, or the same one twice", Kind, HOCKET_SUITE_KINDS) {
  hocket::basic_mutex<typename Kind::strength> m;
  auto held = m.try_lock();
  std::optional<std::size_t> index;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto got = co_await select(m.lock(), m.lock());
    index = got->index();
  };
  int only = world.start(wait);
  world.settle();
  held.unlock();
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(index == 0);
  CHECK(static_cast<bool>(m.try_lock()));
}

TEST_CASE_TEMPLATE("an operation that fails is chosen like one that succeeds", Kind, HOCKET_SUITE_KINDS) {
  auto one = oneshot_of<Kind, int>();
  auto other = oneshot_of<Kind, void>();
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto got = co_await select(one.receiver.receive(), other.receiver.receive());
    CHECK(got->index() == 1);
    CHECK(got->template get<1>().error() == std::errc::broken_pipe);
  };
  int only = world.start(wait);
  world.settle();
  other.sender = {};
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("the earliest deadline of its operations is that of the select", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  hocket::basic_event<typename Kind::strength> one, other;
  std::optional<std::error_code> error;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto got = co_await within(1s, select(one.wait(), within(5ms, other.wait())));
    error = got.error();
  };
  world.start(wait);
  world.settle();
  world.pass(4ms);
  CHECK_FALSE(error);
  world.pass(1ms);
  REQUIRE(error);
  CHECK(*error == std::errc::timed_out);
}

TEST_CASE_TEMPLATE("fault 13: a select at the head of a semaphore's line that goes elsewhere lets the next one go",
                   Kind, HOCKET_SUITE_KINDS) {
  hocket::basic_semaphore<typename Kind::strength> permits(1);
  hocket::basic_event<typename Kind::strength> event;
  bool served = false;
  Kind world;
  auto first = [&]() -> typename Kind::body {
    auto got = co_await select(permits.acquire(2), event.wait());
    CHECK(got->index() == 1);
  };
  auto second = [&]() -> typename Kind::body {
    auto mine = co_await permits.acquire();
    served = mine.has_value();
  };
  world.start(first);
  world.start(second);
  world.settle();
  CHECK_FALSE(served);
  event.set();
  world.settle();
  CHECK(served);
  CHECK(permits.available() == 1);
}

}  // namespace hocket_test
