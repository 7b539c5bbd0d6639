// An owner that sleeps in a driver (core/thread/seam/driver.hpp), under every schedule: the owner sees all posts of
// other threads and all events from outside, whichever ends the sleep, and no thread touches the inbox or the driver
// after the owner has seen all.
#include <hocket/core/thread/seam/driver.hpp>
#include <hocket/core/thread/seam/inbox.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

#include <memory>
#include <utility>

namespace {

using hocket::time_point;
using hocket::detail::driver;
using hocket::detail::driver_kind;
using hocket::detail::driver_slot;
using hocket::detail::inbox;
using hocket::detail::runnable;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket_test::kept;
namespace model = hocket::model;

constexpr time_point never = time_point::max(), later = time_point{};

enum class mistake { none, forgets, hides_a_wake };

// The system reports an event from outside once (an edge), by a word that it shares with the wakes.
template <mistake Wrong>
class device final : public driver {
 public:
  device() noexcept : driver(100) {}

  bool park(time_point until) noexcept override {
    for (;;) {
      const std::uint32_t seen = look();
      if (take_wake(seen)) return true;
      if (collected_ != 0) return false;
      if (!hocket::detail::futex_wait_until(told_, seen, until)) return false;
    }
  }
  void await_wake() noexcept override {
    for (std::uint32_t seen = look(); !take_wake(seen); seen = look()) hocket::detail::futex_wait(told_, seen);
    if (Wrong == mistake::forgets) collected_ = 0;
  }
  std::size_t waiting() const noexcept override { return 0; }
  void wake() noexcept override { add(1); }
  void poll() noexcept override { polled += std::exchange(collected_, 0); }

  void event() noexcept { add(woken_by); }
  bool is_answered() const noexcept { return told_.load(std::memory_order_relaxed) % woken_by == answered_; }

  std::uint32_t polled = 0;  // pushed to the owner's queue, as it were

 private:
  static constexpr std::uint32_t woken_by = 16;
  std::uint32_t look() noexcept {
    const std::uint32_t seen = told_.load(std::memory_order_acquire);
    collected_ += seen / woken_by - std::exchange(known_, seen / woken_by);
    return seen;
  }
  bool take_wake(std::uint32_t seen) noexcept {
    if (seen % woken_by == answered_ || (Wrong == mistake::hides_a_wake && collected_ != 0)) return false;
    answered_ = seen % woken_by;
    return true;
  }
  void add(std::uint32_t what) noexcept {
    told_.fetch_add(what, std::memory_order_release);
    hocket::detail::futex_wake_one(told_);
  }
  atomic<std::uint32_t> told_{0, "told"};
  std::uint32_t answered_ = 0, known_ = 0, collected_ = 0;
};

// What an owner has: its inbox, and the device as its driver. The system knows the device before the owner does.
template <mistake Wrong>
class room final : public driver_kind {
 public:
  room() noexcept : driver_kind("device") {}
  bool follows(const hocket::clock_source&) const noexcept override { return true; }
  std::error_code make(const hocket::detail::driver_owner&, std::unique_ptr<driver>& current) noexcept override {
    current.reset(new link(io));
    return {};
  }
  void adopt() { require(slot.get(*this, in).found != nullptr, "the owner got no driver"); }

  hocket::futex_parker futex;
  device<Wrong> io;
  inbox in{futex};
  driver_slot slot{{hocket::steady_clock(), true}, "the owner", nullptr};

 private:
  struct link final : driver {
    explicit link(device<Wrong>& to) noexcept : driver(to.turns_between_polls()), io(to) {}
    bool park(time_point until) noexcept override { return io.park(until); }
    void wake() noexcept override { io.wake(); }
    void await_wake() noexcept override { io.await_wake(); }
    void poll() noexcept override { io.poll(); }
    std::size_t waiting() const noexcept override { return 0; }
    device<Wrong>& io;
  };
};

struct work : runnable {
  var<int> payload{0, "payload"};
};

// One post and one event. The owner polls the driver when its schedule says so, and only the owner does.
template <mistake Wrong>
auto post_and_event(time_point until) {
  return [=](execution& run) {
    work item;
    kept<room<Wrong>> at;
    at->adopt();
    run.thread("owner", [&] {
      std::uint32_t taken = 0;
      for (;;) {
        for (runnable* next = at->in.take(); next; next = next->next, ++taken) {
          require(static_cast<work*>(next)->payload == 1);
        }
        at->slot.poll_in_turn();
        if (taken + at->io.polled == 2) break;
        at->in.sleep(until);
        at->slot.poll_soon();
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

enum class adopts { in_a_turn, after_the_announcement };

// The owner has slept on its futex, or is about to, when it gets its driver; two posts and an event arrive at any time.
template <adopts When>
auto adopted_while_running(time_point until) {
  return [=](execution& run) {
    work items[2];
    kept<room<mistake::none>> at;
    run.thread("owner", [&] {
      std::uint32_t taken = 0;
      for (;;) {
        for (runnable* next = at->in.take(); next; next = next->next, ++taken) {
          require(static_cast<work*>(next)->payload == 1);
        }
        if (When == adopts::in_a_turn && taken != 0) at->adopt();
        at->slot.poll_in_turn();
        if (taken + at->io.polled == 3) break;
        if (When == adopts::after_the_announcement && taken != 0 && !at->slot.current()) {
          if (!at->in.begin_sleep()) continue;
          static_cast<void>(at->io.is_answered());  // the others may run in between
          at->adopt();
          if (!at->io.park(until)) at->in.end_sleep();
        } else {
          at->in.sleep(until);
        }
        at->slot.poll_soon();
      }
      require(at->io.is_answered(), "a wake is left over");
    });
    run.thread("poster", [&items, to = &*at] {
      for (work& item : items) {
        item.payload = 1;
        to->in.post(item);
      }
    });
    run.thread("system", [&] { at->io.event(); });
    run.join();
    at.free();
  };
}

// What an assistant touches, and the end destroys.
struct fragile_driver final : driver {
  explicit fragile_driver(var<int>& state) noexcept : driver(1), state_(state) {}
  ~fragile_driver() override { state_ = 2; }
  bool park(time_point) noexcept override { return false; }
  void wake() noexcept override {}
  void await_wake() noexcept override {}
  void poll() noexcept override {}
  std::size_t waiting() const noexcept override { return 0; }
  void assist() noexcept override {
    require(state_ == 1, "a driver was assisted before it was made, or after its end");
  }

  var<int>& state_;
};

class fragile_kind final : public driver_kind {
 public:
  explicit fragile_kind(var<int>& state) noexcept : driver_kind("fragile"), state_(state) {}
  std::error_code make(const hocket::detail::driver_owner&, std::unique_ptr<driver>& current) noexcept override {
    state_ = 1;
    current.reset(new fragile_driver(state_));
    return {};
  }

 private:
  var<int>& state_;
};

// Others assist while the owner makes its driver, and ends it.
void assisted_from_beginning_to_end(execution& run) {
  var<int> state{0, "state"};
  fragile_kind kind(state);
  hocket::futex_parker futex;
  inbox in{futex};
  driver_slot slot{{hocket::steady_clock(), true}, "the owner", nullptr};
  run.thread("owner", [&] {
    require(slot.get(kind, in).found != nullptr);
    slot.poll_in_turn();
    slot.close();
  });
  for (int i = 0; i < 2; ++i) run.thread("assistant", [&] { slot.assist(); });
  run.join();
  require(!slot.current());
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 1, .spurious = 1};

}  // namespace

TEST_CASE("neither a post nor an event is lost, and no wake is left over") {
  verdict::none(bounds, post_and_event<mistake::none>(never));
  verdict::none(bounds, post_and_event<mistake::none>(later));
}

TEST_CASE("a driver that forgets what it has collected, when a wake is waited for, loses an event") {
  verdict::found(bug::lost_wakeup, bounds, post_and_event<mistake::forgets>(never));
}

TEST_CASE("a driver that shows no wake before it is polled is waited for without end") {
  verdict::found(bug::lost_wakeup, bounds, post_and_event<mistake::hides_a_wake>(never));
}

TEST_CASE("an owner that gets its driver in a turn, after sleeps on its futex, loses neither posts nor events") {
  verdict::none(bounds, adopted_while_running<adopts::in_a_turn>(never));
  verdict::none(bounds, adopted_while_running<adopts::in_a_turn>(later));
}

TEST_CASE("an owner that changes its parker while a sleep is announced is not woken") {
  verdict::found(bug::lost_wakeup, bounds, adopted_while_running<adopts::after_the_announcement>(never));
}

TEST_CASE("a driver is assisted when it is whole, and ends when nobody assists it") {
  verdict::none(bounds, &assisted_from_beginning_to_end);
}
