// The policy of the search for work, step by step on one thread: which workers may search, which worker wakes which,
// and the work that is taken from a stuck worker. tests/model/runtime/worker_core_test.cpp shows that no wake-up is
// lost.
#include "runtime/worker_core.hpp"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// What a worker has of its event loop.
struct arrivals {
  futex_parker futex_;
  detail::inbox inbox_{futex_};
  detail::run_queue ready_;
};

class stepped_worker final : private arrivals, public detail::worker_core {
 public:
  explicit stepped_worker(detail::pool_core& pool) noexcept : worker_core(pool, inbox_, ready_) {}
  using detail::worker_core::find_work;
  using detail::worker_core::has_ready;
  using detail::worker_core::share;
  using detail::worker_core::share_if_late;
  using detail::worker_core::take_injected;
  ~stepped_worker() {
    while (stealable_.pop()) {
    }
    while (ready_.has_next()) ready_.pop();
    while (forks_.pop()) {
    }
  }

  // Ready here: what may be stolen, and what stays.
  void bring(std::size_t count) {
    for (; count != 0; --count) REQUIRE(stealable_.try_push(std::noop_coroutine()));
  }
  void bring_what_stays(std::size_t count) {
    ready_.reserve(count);
    for (; count != 0; --count) REQUIRE(ready_.try_push(std::noop_coroutine()));
  }
  void run_one() { REQUIRE(stealable_.pop()); }
  void fork(detail::fork_entry& entry) { REQUIRE(forks_.push(entry)); }
  std::size_t size() const noexcept { return stealable_.size(); }
  void make_a_turn() noexcept { turns_.add(1); }
  std::size_t thefts() const noexcept { return stolen_.get(); }
  // A sleep that is over at once. Whether it came to that. `meanwhile`: when the others take it for asleep.
  template <class Meanwhile>
  bool nap(Meanwhile meanwhile) {
    const auto called = [&] {
      meanwhile();
      return false;
    };
    return rest(called, [this] { static_cast<void>(inbox_.sleep(time_point::min())); });
  }
  bool nap() {
    return nap([] {});
  }
};

// So many workers, none of which does anything by itself.
struct stepped_pool : detail::pool_core {
  explicit stepped_pool(std::size_t count) : detail::pool_core(count) {
    turn_clock = &time;
    for (std::size_t i = 0; i < count; ++i) workers.push_back(std::make_unique<stepped_worker>(*this));
    for (detail::runnable& one : work_) one.handle = std::noop_coroutine();
  }
  stepped_worker& operator[](std::size_t i) noexcept { return *workers[i]; }
  // From outside.
  void post(std::size_t count) {
    inject([&](detail::injection& line) noexcept {
      for (; count != 0; --count) line.post(work_[posted_++]);
    });
  }
  void fall_asleep(std::size_t i) { static_cast<void>(idle.begin_sleep((*this)[i], false)); }
  bool wakes_up_searching(std::size_t i) { return idle.end_sleep((*this)[i]).notified; }

  manual_clock time;
  std::vector<std::unique_ptr<stepped_worker>> workers;

 private:
  std::array<detail::runnable, 8> work_{};
  std::size_t posted_ = 0;
};

constexpr duration as_long_as_a_wake = 8us;

}  // namespace

TEST_SUITE_BEGIN("runtime/worker_core");

TEST_CASE("at most half of the workers search") {
  stepped_pool pool(4);
  CHECK_FALSE(pool[0].find_work().found);
  CHECK_FALSE(pool[1].find_work().found);
  pool[3].bring(8);
  CHECK_FALSE(pool[2].find_work().found);
  CHECK(pool[2].thefts() == 0);
  SUBCASE("until one of them has found something") { CHECK(pool[0].find_work().found); }
  SUBCASE("until one of them sleeps") { CHECK(pool[1].nap()); }
  CHECK(pool[2].find_work().found);
}

TEST_CASE("a search takes half of what another worker has, and leaves a lone entry, which that one runs next") {
  stepped_pool pool(2);
  pool[1].bring(1);
  CHECK_FALSE(pool[0].find_work().found);
  pool[1].bring(5);
  CHECK(pool[0].find_work().found);
  CHECK(pool[0].size() == 3);
}

TEST_CASE("a search takes what was posted to the pool, and forks when there is nothing else") {
  stepped_pool pool(2);
  detail::fork_entry fork;
  pool[1].fork(fork);
  pool.post(2);
  const auto posted = pool[0].find_work();
  CHECK((posted.found && !posted.fork));
  CHECK(pool[0].size() == 2);
  const auto forked = pool[0].find_work();
  CHECK((forked.found && forked.fork == &fork));
}

TEST_CASE("the last searcher that has found something makes a sleeper search") {
  stepped_pool pool(4);
  pool.fall_asleep(0);
  pool.fall_asleep(1);
  pool[3].bring(8);
  SUBCASE("which has fallen asleep last") {
    CHECK(pool[2].find_work().found);
    CHECK(pool.wakes_up_searching(1));
    CHECK_FALSE(pool.wakes_up_searching(0));
  }
  SUBCASE("but not while another one searches still") {
    static_cast<void>(pool.idle.begin_search());
    CHECK(pool[2].find_work().found);
    CHECK_FALSE(pool.wakes_up_searching(1));
    CHECK_FALSE(pool.wakes_up_searching(0));
  }
}

TEST_CASE("the last searcher that is awake alone wakes another only if there is more than one to run") {
  stepped_pool pool(3);
  pool.fall_asleep(1);
  pool.fall_asleep(2);
  CHECK_FALSE(pool[0].find_work().found);
  SUBCASE("there is one") {
    pool.post(1);
    CHECK(pool[0].find_work().found);
    CHECK_FALSE(pool.wakes_up_searching(2));
  }
  SUBCASE("there are two") {
    pool.post(2);
    CHECK(pool[0].find_work().found);
    CHECK(pool.wakes_up_searching(2));
  }
}

TEST_CASE("what is posted from outside wakes one sleeper, and none while somebody searches") {
  stepped_pool pool(3);
  pool.fall_asleep(0);
  pool.fall_asleep(1);
  pool.post(2);
  pool.post(1);
  CHECK(pool.wakes_up_searching(1));
  CHECK_FALSE(pool.wakes_up_searching(0));
}

TEST_CASE("a worker that is about to run a lot wakes a sleeper for it, and for a few it does not") {
  stepped_pool pool(2);
  pool.fall_asleep(1);
  SUBCASE("a few") {
    pool[0].bring(7);
    pool[0].share();
    CHECK_FALSE(pool.wakes_up_searching(1));
  }
  SUBCASE("a few, and a lot that stays") {
    pool[0].bring(7);
    pool[0].bring_what_stays(10);
    pool[0].share();
    CHECK_FALSE(pool.wakes_up_searching(1));
  }
  SUBCASE("a lot") {
    pool[0].bring(8);
    pool[0].share();
    CHECK(pool.wakes_up_searching(1));
  }
}

TEST_CASE("a turn that has taken as long as a wake offers what is left between two resumes") {
  stepped_pool pool(2);
  pool.fall_asleep(1);
  pool[0].bring(2);
  pool[0].share();
  pool.time.advance(as_long_as_a_wake - 1ns);
  pool[0].share_if_late();
  SUBCASE("it has not") { CHECK_FALSE(pool.wakes_up_searching(1)); }
  pool.time.advance(1ns);
  SUBCASE("it has") {
    pool[0].share_if_late();
    CHECK(pool.wakes_up_searching(1));
  }
  SUBCASE("but not the last one, which runs next") {
    pool[0].run_one();
    pool[0].share_if_late();
    CHECK_FALSE(pool.wakes_up_searching(1));
  }
  SUBCASE("a new turn begins at its own time") {
    pool[0].share();
    pool[0].share_if_late();
    CHECK_FALSE(pool.wakes_up_searching(1));
  }
}

TEST_CASE(
    "a coroutine that does not come back offers what it makes ready: at once if it is a lot, else if it is late") {
  stepped_pool pool(2);
  pool[0].share();
  pool.fall_asleep(1);
  pool[0].bring(2);
  SUBCASE("a lot") {
    pool[0].bring(6);
    pool[0].offer_if_late();
    CHECK(pool.wakes_up_searching(1));
  }
  SUBCASE("late: at every 16th push it looks at the clock") {
    pool[0].offer_if_late();
    pool.time.advance(as_long_as_a_wake);
    for (int i = 1; i < 16; ++i) pool[0].offer_if_late();
    CHECK_FALSE(pool.wakes_up_searching(1));
    pool.fall_asleep(1);
    pool[0].offer_if_late();
    CHECK(pool.wakes_up_searching(1));
  }
  SUBCASE("early") {
    for (int i = 0; i < 100; ++i) pool[0].offer_if_late();
    CHECK_FALSE(pool.wakes_up_searching(1));
  }
  SUBCASE("a fork: at once") {
    pool[0].offer_at_once();
    CHECK(pool.wakes_up_searching(1));
  }
}

TEST_CASE("the clock is looked at only where somebody sleeps and more is ready than what runs next") {
  struct counting_clock final : clock_source {
    time_point now() const noexcept override { return ++looks, time_point{}; }
    mutable int looks = 0;
  } time;
  stepped_pool pool(2);
  pool.turn_clock = &time;
  pool[0].bring(2);
  pool[0].share();
  pool[0].share_if_late();
  pool.fall_asleep(1);
  pool[0].run_one();
  pool[0].share();
  pool[0].share_if_late();
  CHECK(time.looks == 0);
  pool[0].bring(1);
  pool[0].share();
  CHECK(time.looks == 1);
}

TEST_CASE("a worker looks once more before it sleeps") {
  stepped_pool pool(2);
  CHECK_FALSE(pool[0].find_work().found);
  pool[1].bring(2);
  CHECK_FALSE(pool[0].nap());
  CHECK(pool[0].find_work().found);
  CHECK(pool[0].nap());
}

TEST_CASE("of a worker that is stuck even a lone entry is taken, and a sleeper that looks once more finds it") {
  stepped_pool pool(2);
  pool[1].bring(1);
  CHECK_FALSE(pool[0].find_work().found);
  CHECK(pool[0].nap());
  pool[1].set_stuck(true);
  CHECK(pool[0].find_work().found);
  CHECK(pool[0].size() == 1);
  pool[1].set_stuck(false);
  pool[1].bring(1);
  CHECK_FALSE(pool.has_work());
}

TEST_CASE("an observer rests after a period in which all slept, and the first worker that ends a sleep arms all") {
  using observer = detail::idle_workers::observer;
  for (const observer self : {observer::watch, observer::stalls}) {
    CAPTURE(static_cast<int>(self));
    const observer other = self == observer::watch ? observer::stalls : observer::watch;
    stepped_pool pool(2);
    const auto rung = [&] { return pool.watch_epoch.load(); };
    CHECK_FALSE(pool.idle.rests(self));
    pool.fall_asleep(0);
    CHECK_FALSE(pool.idle.rests(self));
    SUBCASE("one sleeps, one is awake") {
      CHECK(pool[1].nap());
      CHECK_FALSE(pool.idle.rests(self));
      CHECK(rung() == 0);
    }
    SUBCASE("both sleep, but one was awake meanwhile") {
      CHECK(pool[1].nap());
      pool.fall_asleep(1);
      CHECK_FALSE(pool.idle.rests(self));
      CHECK(pool.idle.rests(self));
    }
    SUBCASE("both slept") {
      CHECK(pool[1].nap([&] { CHECK(pool.idle.rests(self)); }));
      CHECK(rung() == 1);
      CHECK_FALSE(pool.idle.end_sleep(pool[0]).must_arm);
      CHECK(pool[1].nap());
      CHECK(rung() == 1);
    }
    SUBCASE("the period of one observer is not that of the other") {
      CHECK(pool[1].nap([&] {
        CHECK_FALSE(pool.idle.rests(other));
        CHECK(pool.idle.rests(other));
        CHECK(pool.idle.rests(self));
      }));
      CHECK(rung() == 1);
      CHECK_FALSE(pool.idle.rests(self));
      CHECK_FALSE(pool.idle.rests(other));
    }
  }
}

TEST_SUITE_END();
