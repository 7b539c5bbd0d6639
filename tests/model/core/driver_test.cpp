// An owner that sleeps in a driver (core/driver.hpp), under every schedule: what others post and what comes from
// outside is seen, whichever of the two ends the sleep, and nobody touches the inbox or the driver after the owner
// knows all.
#include <hocket/core/detail/inbox.hpp>
#include <hocket/core/driver.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

#include <utility>

namespace {

using hocket::driver;
using hocket::time_point;
using hocket::detail::inbox;
using hocket::detail::poll_schedule;
using hocket::detail::runnable;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket_test::kept;
namespace model = hocket::model;

constexpr time_point never = time_point::max(), later = time_point{};

enum class mistake { none, forgets, returns_for_what_it_had, hides_a_wake, sleeps_unpolled };

// The system tells once of what comes from outside (an edge), by a word that it shares with the wakes.
template <mistake Wrong>
class device final : public driver {
 public:
  device() noexcept : driver(100) {}

  bool park(time_point until) noexcept override {
    if (Wrong == mistake::forgets) collected_ = 0;
    for (;;) {
      const std::uint32_t seen = told_.load(std::memory_order_acquire);
      const bool woken = seen % woken_by != answered_;
      const std::uint32_t fresh = seen / woken_by - std::exchange(known_, seen / woken_by);
      collected_ += fresh;
      if (woken && !(Wrong == mistake::hides_a_wake && collected_ != 0)) {
        answered_ = seen % woken_by;
        return true;
      }
      if (fresh != 0 || (Wrong == mistake::returns_for_what_it_had && collected_ != 0)) return false;
      if (!hocket::detail::futex_wait_until(told_, seen, until)) return false;
    }
  }
  void wake() noexcept override { add(1); }
  void poll() noexcept override { polled += std::exchange(collected_, 0); }

  void event() noexcept { add(woken_by); }
  bool is_answered() const noexcept { return told_.load(std::memory_order_relaxed) % woken_by == answered_; }

  std::uint32_t polled = 0;  // pushed to the owner's queue, as it were

 private:
  static constexpr std::uint32_t woken_by = 16;
  void add(std::uint32_t what) noexcept {
    told_.fetch_add(what, std::memory_order_release);
    hocket::detail::futex_wake_one(told_);
  }
  atomic<std::uint32_t> told_{0, "told"};
  std::uint32_t answered_ = 0, known_ = 0, collected_ = 0;
};

template <mistake Wrong>
struct room {
  device<Wrong> io;
  inbox in{io};
  poll_schedule polls{&io};
};

struct work : runnable {
  var<int> payload{0, "payload"};
};

// One posts, one event comes. The owner is polled when its schedule says so, and by it alone.
template <mistake Wrong>
auto post_and_event(time_point until) {
  return [=](execution& run) {
    work item;
    kept<room<Wrong>> at;
    run.thread("owner", [&] {
      std::uint32_t taken = 0;
      for (;;) {
        for (runnable* next = at->in.take(); next; next = next->next, ++taken) {
          require(static_cast<work*>(next)->payload == 1);
        }
        at->polls.turn();
        if (taken + at->io.polled == 2) break;
        at->in.sleep(until);
        if (Wrong != mistake::sleeps_unpolled) at->polls.soon();
      }
      require(at->io.is_answered(), "a wake is left over");
    });
    run.thread("poster", [&item, to = &*at] {
      item.payload = 1;
      to->in.post(item);
    });
    run.thread("system", [&] { at->io.event(); });
    run.join();
    at.free();
  };
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 1, .spurious = 1};

}  // namespace

TEST_CASE("neither a post nor an event is lost, and no wake is left over") {
  verdict::none(bounds, post_and_event<mistake::none>(never));
  verdict::none(bounds, post_and_event<mistake::none>(later));
}

TEST_CASE("a driver that forgets what it has collected, when it is parked again, loses an event") {
  verdict::found(bug::lost_wakeup, bounds, post_and_event<mistake::forgets>(never));
}

TEST_CASE("a driver that returns again for what it has collected has its owner spin while a wake is on its way") {
  verdict::found(bug::livelock, bounds, post_and_event<mistake::returns_for_what_it_had>(never));
}

TEST_CASE("a driver that shows no wake before it is polled is waited for without end") {
  verdict::found(bug::lost_wakeup, bounds, post_and_event<mistake::hides_a_wake>(never));
}

TEST_CASE("an owner that sleeps again before it has polled misses an event") {
  verdict::found(bug::lost_wakeup, bounds, post_and_event<mistake::sleeps_unpolled>(never));
}
