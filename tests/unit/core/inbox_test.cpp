#include <hocket/core/thread/seam/inbox.hpp>

#include <doctest/doctest.h>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

using namespace hocket;

namespace {

// A bed in which the test lies: what happens while the owner sleeps, and whether a wake or the clock ends it.
class scripted_parker final : public parker {
 public:
  bool park(time_point until) noexcept override {
    ++parks;
    last_until = until;
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    if (sleepless) return sleepless = false;
    return std::exchange(woken, false);
  }
  void wake() noexcept override {
    ++wakes;
    woken = true;
  }
  std::function<void()> meanwhile;
  time_point last_until{};
  int parks = 0, wakes = 0;
  bool woken = false;
  bool sleepless = false;  // the next park ends by the clock, though a wake has come
};

struct room {
  scripted_parker bed;
  detail::inbox in{bed};

  std::vector<detail::runnable*> take() {
    std::vector<detail::runnable*> out;
    for (detail::runnable* work = in.take(); work; work = work->next) out.push_back(work);
    return out;
  }
};

using taken = std::vector<detail::runnable*>;
constexpr time_point later = time_point{} + std::chrono::seconds(1);

}  // namespace

TEST_CASE("what is posted is taken, first posted first, and once") {
  room r;
  detail::runnable a, b, c;
  CHECK(r.in.take() == nullptr);
  for (detail::runnable* work : {&a, &b, &c}) r.in.post(*work);
  CHECK(r.take() == taken{&a, &b, &c});
  CHECK(r.in.take() == nullptr);
  r.in.post(b);
  CHECK(r.take() == taken{&b});
  CHECK(r.bed.wakes == 0);
}

TEST_CASE("a post or a nudge that came before makes the next sleep return without parking") {
  room r;
  detail::runnable a;
  r.in.post(a);
  r.in.sleep(later);
  CHECK(r.take() == taken{&a});
  for (int nudges : {1, 2}) {
    for (int i = 0; i < nudges; ++i) r.in.nudge();
    r.in.sleep(later);
    CHECK(r.in.take() == nullptr);
  }
  CHECK(r.bed.parks == 0);
  r.in.sleep(later);
  CHECK(r.bed.parks == 1);
  CHECK(r.bed.last_until == later);
  CHECK(r.bed.wakes == 0);
}

TEST_CASE("a nudge beside a post takes nothing away") {
  room r;
  detail::runnable a, b;
  r.in.nudge();
  r.in.post(a);
  r.in.nudge();
  r.in.post(b);
  r.in.sleep(later);
  CHECK(r.take() == taken{&a, &b});
  CHECK(r.bed.parks == 0);
}

TEST_CASE("a sleeping owner is woken once, by the first of those who come") {
  room r;
  detail::runnable a, b;
  r.bed.meanwhile = [&] {
    r.in.post(a);
    r.in.post(b);
    r.in.nudge();
  };
  r.in.sleep(later);
  CHECK(r.bed.wakes == 1);
  CHECK(r.bed.parks == 1);
  CHECK(r.take() == taken{&a, &b});
  r.bed.meanwhile = [&] { r.in.nudge(); };
  r.in.sleep(later);
  CHECK(r.bed.wakes == 2);
  CHECK(r.in.take() == nullptr);
}

TEST_CASE("after a time-out nobody owes a wake, and the next post makes none") {
  room r;
  detail::runnable a;
  r.in.sleep(later);
  r.in.post(a);
  CHECK(r.bed.wakes == 0);
  CHECK(r.take() == taken{&a});
}

TEST_CASE("a time-out as somebody comes waits for his wake") {
  room r;
  detail::runnable a;
  for (bool nudged : {false, true}) {
    r.bed.parks = 0;
    r.bed.sleepless = true;
    r.bed.meanwhile = [&] {
      if (nudged) r.in.nudge();
      else r.in.post(a);
    };
    r.in.sleep(later);
    CHECK(r.bed.parks == 2);
    CHECK(r.bed.last_until == time_point::max());
    CHECK_FALSE(r.bed.woken);
    CHECK(r.take() == (nudged ? taken{} : taken{&a}));
  }
}

TEST_CASE("posts and nudges of many threads reach an owner that sleeps with and without a limit") {
  constexpr int threads = 3, each = 3'000;
  futex_parker bed;
  detail::inbox in(bed);
  std::vector<std::vector<detail::runnable>> work(threads, std::vector<detail::runnable>(each));
  std::vector<std::thread> posters;
  for (auto& own : work) {
    posters.emplace_back([&] {
      for (auto& one : own) {
        in.post(one);
        in.nudge();
      }
    });
  }
  int total = 0;
  for (int turn = 0; total < threads * each; ++turn) {
    for (detail::runnable* one = in.take(); one; one = one->next) ++total;
    if (total < threads * each) in.sleep(turn % 2 == 0 ? time_point{} : time_point::max());
  }
  for (auto& poster : posters) poster.join();
  CHECK(total == threads * each);
}
