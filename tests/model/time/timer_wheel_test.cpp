// The protocol between a timer wheel's owner and the threads that detach, under every schedule: a wait with a deadline
// ends once, by its grant or by its timer; its memory is free when the last holder says so, and so is the wheel, as
// soon as its last wait is over. Both are freed at once, so a late touch is a use after destruction.
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/time/seam/timer_wheel.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

#include <deque>
#include <string>
#include <utility>

namespace {

using hocket::duration;
using hocket::time_point;
using hocket::detail::timer_call;
using hocket::detail::timer_kind;
using hocket::detail::timer_node;
using hocket::detail::timer_wheel;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket_test::kept;
namespace model = hocket::model;

// The owner's alone, as the time of a turn is. It flows, so a wait for a time from now gets its time in the next turn.
struct stepped_clock final : hocket::clock_source {
  time_point now() const noexcept override { return present; }
  bool is_free_running() const noexcept override { return true; }
  time_point present{};
};

// As much of a loop as the wheel sees: an executor that sleeps until something was posted, and a runnable of its own
// that it posts to itself in wake(). What was posted is a bit each; a wait is over when its coroutine is posted.
class small_loop final : public hocket::executor, public hocket::detail::timer_waker {
 public:
  static constexpr std::uint32_t reminder = 1;

  stepped_clock time;
  timer_wheel wheel{time, *this, *this};

  void post_from_outside(hocket::detail::runnable&) noexcept override {}
  void post(std::uint32_t what) noexcept {
    inbox_.fetch_or(what, std::memory_order_release);
    hocket::detail::futex_wake_one(inbox_);
  }
  void wake() noexcept override {
    reminder_link_ = 1;  // as the push to an inbox writes it
    post(reminder);
  }
  // Returns the received words; reclaims on request. Sleeps if there are none.
  std::uint32_t take() {
    std::uint32_t what = 0;
    while ((what = inbox_.exchange(0, std::memory_order_acquire)) == 0) hocket::detail::futex_wait(inbox_, 0);
    if (what & reminder) {
      require(reminder_link_ == 1, "reminded twice");
      reminder_link_ = 0;
      wheel.reclaim();
    }
    return what;
  }

 private:
  atomic<std::uint32_t> inbox_{0, "inbox"};
  var<int> reminder_link_{0, "reminder_link"};
};

// A wait as the suspension of core sees it: a claim that one party wins, and a hold of each of its two registrations,
// at the wheel and at a primitive (the granting thread has that one).
enum class rings { at_home, anywhere };

class timed_wait : timer_node {
 public:
  timed_wait(small_loop& loop, std::uint32_t number, std::int64_t due, rings where) : loop_(loop), number_(number) {
    when = time_point{duration{due}};
    static constexpr timer_kind kinds[]{{&timed_wait::ring_at_home},
                                        {&timed_wait::ring, [](const auto&, const auto&) noexcept { return true; }}};
    kind = &kinds[where == rings::anywhere];
  }
  ~timed_wait() { life_ = 2; }

  // The owner. Afterwards the granting thread may be told.
  void begin(bool is_granted = true) {
    if (!is_granted) holds_.store(1, std::memory_order_relaxed);
    loop_.wheel.attach(*this);
  }
  void begin_from_now() {
    set_after(std::exchange(when, time_point::max()).time_since_epoch());
    loop_.wheel.attach_after(*this);
  }
  // The granting thread. `believes`: counts a timer that it could not take back as its own.
  void grant(bool believes = false) {
    const bool won = settle(outcome::granted);
    const bool took_back = won && (loop_.wheel.detach(*this) || believes);
    let_go(took_back ? 2 : 1);
  }
  bool decided() const { return outcome_.load(std::memory_order_relaxed) != outcome::none; }

 private:
  enum class outcome : std::uint8_t { none, granted, timed_out };

  bool settle(outcome how) noexcept {
    auto seen = outcome::none;
    return outcome_.compare_exchange_strong(seen, how, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  static void ring_at_home(timer_node& self, timer_call why) noexcept {
    require(hocket::current_executor() == &static_cast<timed_wait&>(self).loop_, "fired on another thread");
    ring(self, why);
  }
  static void ring(timer_node& self, timer_call) noexcept {
    auto& it = static_cast<timed_wait&>(self);
    require(!std::exchange(it.fired_, true), "fired twice");
    it.life_ = 1;
    it.settle(outcome::timed_out);
    it.let_go(1);
  }
  void let_go(std::uint32_t holds) noexcept {
    if (holds_.fetch_sub(holds, std::memory_order_acq_rel) == holds) loop_.post(number_);
  }

  small_loop& loop_;
  const std::uint32_t number_;
  atomic<outcome> outcome_{outcome::none, "outcome"};
  atomic<std::uint32_t> holds_{2, "holds"};
  var<int> life_{0, "life"};
  bool fired_ = false;  // written where it fires
};

enum class mistake { none, believes_to_have_detached, reclaims_unasked };
enum class from { start, now };

// The owner of a loop and waits on it, due one nanosecond after the other.
struct stage {
  kept<small_loop> loop;
  std::deque<kept<timed_wait>> waits;
  atomic<std::uint32_t> begun{0, "begun"}, helped{0, "helped"};

  explicit stage(int count, rings where = rings::anywhere) {
    for (int i = 0; i < count; ++i) waits.emplace_back(*loop, 2u << i, i + 1, where);
  }

  // Begins the waits, turns the wheel at `then`, frees each wait when it is posted, and the loop when the last one was.
  // Waits from now are given their time by a turn at the start, while they may be granted already.
  void own(std::int64_t then, bool reclaims_unasked, from begin) {
    hocket::detail::running_scope running({&*loop}, nullptr);
    for (auto& wait : waits) begin == from::now ? wait->begin_from_now() : wait->begin();
    begun.store(1, std::memory_order_release);
    hocket::detail::futex_wake_all(begun);
    if (begin == from::now) loop->wheel.advance();
    loop->time.present = time_point{duration{then}};
    loop->wheel.advance();
    end_all(reclaims_unasked);
    loop.free();
  }
  // Begins the waits beside a helper. The time is `then` from the beginning. The owner may grant the last wait.
  void own_with_help(std::int64_t then, std::size_t granted, bool grants) {
    hocket::detail::running_scope running({&*loop}, nullptr);
    for (std::size_t i = 0; i < waits.size(); ++i) waits[i]->begin(i < granted || (grants && i + 1 == waits.size()));
    loop->time.present = time_point{duration{then}};
    begun.store(1, std::memory_order_release);
    hocket::detail::futex_wake_all(begun);
    if (grants) waits.back()->grant();
    loop->wheel.advance();
    end_all(false);
    while (helped.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(helped, 0);
    loop.free();
  }
  void help() {
    wait_until_begun();
    loop->wheel.assist();
    helped.store(1, std::memory_order_release);
    hocket::detail::futex_wake_all(helped);
  }
  void end_all(bool reclaims_unasked) {
    for (std::size_t left = waits.size(); left > 0;) {
      if (reclaims_unasked) loop->wheel.reclaim();
      const std::uint32_t over = loop->take();
      for (std::size_t i = 0; i < waits.size(); ++i) {
        if ((over & (2u << i)) == 0) continue;
        require(waits[i]->decided());
        waits[i].free();
        --left;
      }
    }
    require(loop->wheel.empty());
  }
  void wait_until_begun() {
    while (begun.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(begun, 0);
  }
};

template <int Count, std::int64_t Then, mistake Wrong = mistake::none, from Begin = from::start>
void race(execution& run) {
  stage t(Count);
  run.thread("owner", [&] { t.own(Then, Wrong == mistake::reclaims_unasked, Begin); });
  for (auto& wait : t.waits) {
    run.thread("grants", [&] {
      t.wait_until_begun();
      wait->grant(Wrong == mistake::believes_to_have_detached);
    });
  }
  run.join();
}

// Others grant so many of the waits, from the first on; the owner the last one, if it grants.
template <int Count, std::int64_t Then, std::size_t Granted, bool OwnerGrants, rings Where = rings::anywhere>
void race_with_help(execution& run) {
  stage t(Count, Where);
  run.thread("owner", [&] { t.own_with_help(Then, Granted, OwnerGrants); });
  run.thread("helps", [&] { t.help(); });
  for (std::size_t i = 0; i < Granted; ++i) {
    run.thread("grants", [&t, i] {
      t.wait_until_begun();
      t.waits[i]->grant();
    });
  }
  run.join();
}

constexpr std::int64_t too_early = 0, in_between = 1, late_enough = 2;

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("fault 16, 20: a wait that is granted elsewhere while its timer expires ends once") {
  ::verdict::none({.preemptions = 4, .stale_reads = 3, .spurious = 1}, race<1, late_enough>);
}

TEST_CASE("fault 16, 20: two waits that two threads grant before, while and after they expire end once each") {
  ::verdict::none(bounds, race<2, too_early>);
  ::verdict::none(bounds, race<2, in_between>);
  ::verdict::none(bounds, race<2, late_enough>);
}

TEST_CASE("fault 16, 20: waits for a time from now end once each, whenever they are granted and given their time") {
  ::verdict::none({.preemptions = 3, .stale_reads = 2, .spurious = 1}, race<1, late_enough, mistake::none, from::now>);
  ::verdict::none(bounds, race<2, too_early, mistake::none, from::now>);
  ::verdict::none(bounds, race<2, in_between, mistake::none, from::now>);
  ::verdict::none(bounds, race<2, late_enough, mistake::none, from::now>);
}

TEST_CASE("beside an owner that may be stuck, waits that another thread grants or its helper times out end once") {
  ::verdict::none(bounds, race_with_help<1, late_enough, 1, false>);
  ::verdict::none(bounds, race_with_help<2, late_enough, 1, false>);
  ::verdict::none(bounds, race_with_help<1, too_early, 1, false>);
}

TEST_CASE("two threads that give back, beside an owner that reclaims and its helper, end their waits") {
  ::verdict::none({.preemptions = 1, .stale_reads = 0, .spurious = 0}, race_with_help<2, too_early, 2, false>);
}

TEST_CASE("a wait that the owner grants while its helper times it out ends once") {
  ::verdict::none({.preemptions = 3, .stale_reads = 2, .spurious = 1}, race_with_help<1, late_enough, 0, true>);
  ::verdict::none(bounds, race_with_help<2, late_enough, 1, true>);
}

TEST_CASE("what must fire on the owner's thread does, whoever helps and whoever gives it back") {
  ::verdict::none(bounds, race_with_help<1, late_enough, 1, false, rings::at_home>);
  ::verdict::none(bounds, race_with_help<1, too_early, 1, false, rings::at_home>);
  ::verdict::none(bounds, race_with_help<2, late_enough, 0, true, rings::at_home>);
}

TEST_CASE("no ordering of the wheel could be weaker") {
  for (auto& unneeded : {model::unneeded_orderings(bounds, race<2, too_early>, race_with_help<1, too_early, 1, false>),
                         model::unneeded_orderings(bounds, race<2, too_early, mistake::none, from::now>)}) {
    INFO(unneeded);
    CHECK(unneeded.find("timer_wheel.cpp") == std::string::npos);
  }
}

TEST_CASE("a thread that takes a timer for detached which the wheel still has frees the wait too early") {
  for (auto& result : {model::explore(bounds, race<1, late_enough, mistake::believes_to_have_detached>),
                       model::explore(bounds, race<1, late_enough, mistake::believes_to_have_detached, from::now>)}) {
    INFO(result.text());
    CHECK(result.found());
  }
}

TEST_CASE("an owner that reclaims what it was not woken for is woken twice") {
  ::verdict::found(bug::data_race, bounds, race<2, too_early, mistake::reclaims_unasked>);
}
