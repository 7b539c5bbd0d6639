// The policy of the search for work, step by step on one thread: who may search, who wakes whom, and what a sleeper
// that watches takes. That no wake-up is lost between threads: tests/model/runtime/worker_core_test.cpp.
#include "runtime/worker_core.hpp"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace hocket;

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
    return rest(called, [this](bool) { static_cast<void>(inbox_.sleep(time_point::min())); });
  }
  bool nap() {
    return nap([] {});
  }
};

// So many workers, none of which does anything by itself.
struct stepped_pool : detail::pool_core {
  explicit stepped_pool(std::size_t count) : detail::pool_core(count) {
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
  void fall_asleep(std::size_t i) { watches_[i] = idle.begin_sleep((*this)[i], false).watches; }
  bool wakes_up_searching(std::size_t i) { return idle.end_sleep((*this)[i], watches_[i]); }

  std::vector<std::unique_ptr<stepped_worker>> workers;

 private:
  std::array<detail::runnable, 8> work_{};
  std::size_t posted_ = 0;
  std::array<bool, 8> watches_{};
};

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

TEST_CASE("a worker that is about to run more than one wakes a sleeper for the rest, and for one it does not") {
  stepped_pool pool(2);
  pool.fall_asleep(1);
  pool[0].bring(1);
  SUBCASE("one") {
    pool[0].share();
    CHECK_FALSE(pool.wakes_up_searching(1));
  }
  SUBCASE("two that may be stolen") {
    pool[0].bring(1);
    pool[0].share();
    CHECK(pool.wakes_up_searching(1));
  }
  SUBCASE("one, and one that stays") {
    pool[0].bring_what_stays(1);
    pool[0].share();
    CHECK_FALSE(pool.wakes_up_searching(1));
  }
}

TEST_CASE("a worker that has watched and has one to run wakes a sleeper, which watches in its place") {
  stepped_pool pool(3);
  CHECK(pool[0].nap([&] { pool.fall_asleep(1); }));
  pool[0].bring(1);
  pool[0].share();
  CHECK(pool.wakes_up_searching(1));
  pool.fall_asleep(1);
  pool[0].share();
  CHECK_FALSE(pool.wakes_up_searching(1));
}

TEST_CASE("a worker looks once more before it sleeps") {
  stepped_pool pool(2);
  CHECK_FALSE(pool[0].find_work().found);
  pool[1].bring(2);
  CHECK_FALSE(pool[0].nap());
  CHECK(pool[0].find_work().found);
  CHECK(pool[0].nap());
}

TEST_CASE("a sleeper that watches takes even a lone entry of a worker that has made no turn since its last look") {
  stepped_pool pool(2);
  pool[1].bring(1);
  pool[1].make_a_turn();
  CHECK(pool[0].nap());
  CHECK(pool[0].size() == 0);
  SUBCASE("none was made") {
    CHECK(pool[0].nap());
    CHECK(pool[0].size() == 1);
  }
  SUBCASE("one was made") {
    pool[1].make_a_turn();
    CHECK(pool[0].nap());
    CHECK(pool[0].size() == 0);
  }
}

TEST_CASE("of several sleepers one watches") {
  stepped_pool pool(3);
  pool.fall_asleep(0);
  pool[2].bring(1);
  for (int i = 0; i < 3; ++i) CHECK(pool[1].nap());
  CHECK(pool[1].size() == 0);
}

TEST_SUITE_END();
