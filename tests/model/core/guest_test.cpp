// A loop that is the guest of another one, under every schedule: the host's wait ends when something has come, watched
// by level or by edge, and nobody touches the inbox or the parker after the owner knows all.
#include <hocket/core/thread/seam/inbox.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

namespace {

using hocket::parker;
using hocket::time_point;
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

struct work : runnable {
  var<int> payload{0, "payload"};
};

// A descriptor: readable when it was rung more often than answered.
class bell final : public parker {
 public:
  bool park(time_point until) noexcept override {
    if (!rung_after(answered_, until)) return false;
    require(++answered_ <= 2, "answered more often than there are posts");
    return true;
  }
  void wake() noexcept override {
    rung_.fetch_add(1, std::memory_order_release);
    hocket::detail::futex_wake_one(rung_);
  }
  // The host's wait, which reads nothing. An edge is told once.
  void wait_by_level(time_point until) noexcept { rung_after(answered_, until); }
  void wait_by_edge(time_point until) noexcept {
    if (rung_after(told_, until)) ++told_;
  }
  bool readable() const noexcept { return rung_.load(std::memory_order_relaxed) != answered_; }

 private:
  bool rung_after(std::uint32_t known, time_point until) noexcept {
    while (rung_.load(std::memory_order_acquire) == known) {
      if (!hocket::detail::futex_wait_until(rung_, known, until)) return false;
    }
    return true;
  }
  atomic<std::uint32_t> rung_{0, "rung"};
  std::uint32_t answered_ = 0, told_ = 0;
};

struct guest {
  bell rings;
  inbox in{rings};

  int take() {
    int taken = 0;
    for (runnable* item = in.take(); item; item = item->next, ++taken) {
      require(static_cast<work*>(item)->payload == 1);
    }
    return taken;
  }
};

enum class host { by_level, by_edge, never_announces, leaves_the_wake, ends_only_when_told };

// A turn of the host without its own events, as loop.hpp numbers it.
template <host Kind>
void wait_as_guest(guest& room, time_point until) {
  const bool announced = Kind != host::never_announces && room.in.begin_sleep();
  if (!announced && Kind != host::never_announces) return;
  if constexpr (Kind == host::by_edge) room.rings.wait_by_edge(until);
  else room.rings.wait_by_level(until);
  if (Kind == host::ends_only_when_told && !room.rings.readable()) return;
  if (announced && Kind != host::leaves_the_wake) room.in.end_sleep();
}

// The guest is gone as soon as everything has been taken.
template <host Kind>
auto two_post(time_point until) {
  return [=](execution& run) {
    work items[2];
    kept<guest> room;
    run.thread("host", [&] {
      for (int taken = room->take(); taken < 2; taken += room->take()) wait_as_guest<Kind>(*room, until);
      if (Kind != host::ends_only_when_told) require(!room->rings.readable(), "a wake is left over");
      room.free();
    });
    for (auto& item : items) {
      run.thread("poster", [&item, to = &*room] {
        item.payload = 1;
        to->in.post(item);
      });
    }
    run.join();
  };
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 1, .spurious = 1};

}  // namespace

TEST_CASE("the host's wait ends when something was posted, by level and by edge, whatever else ends it") {
  verdict::none(bounds, two_post<host::by_level>(never));
  verdict::none(bounds, two_post<host::by_level>(later));
  verdict::none(bounds, two_post<host::by_edge>(never));
  verdict::none(bounds, two_post<host::by_edge>(later));
}

TEST_CASE("a host that waits without announcing it is not woken") {
  verdict::found(bug::lost_wakeup, bounds, two_post<host::never_announces>(never));
}

TEST_CASE("a host that goes on without taking the wake spins: its descriptor stays readable") {
  verdict::found(bug::livelock, bounds, two_post<host::leaves_the_wake>(never));
}

TEST_CASE("a host that keeps its announcement, because it has seen no wake, is woken when it is gone") {
  auto result = model::explore(bounds, two_post<host::ends_only_when_told>(later));
  INFO(result.text());
  CHECK((result.kind == bug::use_after_destroy || result.kind == bug::data_race));
}
