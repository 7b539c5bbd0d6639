// select under every schedule: two grants and a cancel race for one wait. One operation is carried out, or none; what
// the others were offered goes on.
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>

#include "sync/waits.hpp"
#include "unit/core/permit_source.hpp"

namespace {

using hocket::result;
using hocket::stop_source;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::primitive::suspension;
using hocket::primitive::waiter;
using hocket_test::kept;
using hocket_test::permit_source;
using hocket_test::place;
using hocket_test::wait_at;
namespace model = hocket::model;

// Two mutexes are unlocked, and the select of both is cancelled. In the end both are free.
void two_unlocked_beside_a_cancel(execution& run) {
  kept<hocket::mutex> mutexes[2];
  kept<stop_source> stop;
  place where(&*stop);
  hocket::mutex::guard held[] = {mutexes[0]->try_lock(), mutexes[1]->try_lock()};
  run.thread("selects", [&] {
    auto got = wait_at(where, select(mutexes[0]->lock(), mutexes[1]->lock()));
    if (!got) return require(got.error() == std::errc::operation_canceled);
    bool mine = got->index() == 0 ? got->get<0>().has_value() : got->get<1>().has_value();
    require(mine && !mutexes[got->index()]->try_lock(), "the wrong one was taken");
  });
  run.thread("unlocks 0", [&] { held[0].unlock(); });
  run.thread("unlocks 1", [&] { held[1].unlock(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(static_cast<bool>(mutexes[0]->try_lock()), "the first mutex is lost");
  require(static_cast<bool>(mutexes[1]->try_lock()), "the second mutex is lost");
  for (auto& mutex : mutexes) mutex.free();
  stop.free();
}

// Two selects from the same two semaphores in opposite orders, and one permit in each: both get one.
void two_selects_for_two_permits(execution& run) {
  kept<hocket::semaphore> left(0u), right(0u);
  place places[2];
  run.thread("left first", [&] {
    auto got = wait_at(places[0], select(left->acquire(), right->acquire()));
    if (got->index() == 0) got->get<0>()->forget();
    else got->get<1>()->forget();
  });
  run.thread("right first", [&] {
    auto got = wait_at(places[1], select(right->acquire(), left->acquire()));
    if (got->index() == 0) got->get<0>()->forget();
    else got->get<1>()->forget();
  });
  run.thread("releases", [&] {
    left->release();
    right->release();
  });
  run.join();
  require(left->available() + right->available() == 0, "a permit was made");
  left.free();
  right.free();
}

// A source with one wrong step, or none.
enum class mistake { none, does_not_ask, stays_registered };

template <mistake Made>
struct source : permit_source {
  using permit_source::permit_source;
  bool take_or_list(suspension& wait, waiter& entry) noexcept override {
    hocket::primitive::locked guard(mutex_);
    if (free_ > 0) {
      bool taken = wait.take_now(entry, *this);
      if (taken || Made == mistake::does_not_ask) --free_;
      return true;
    }
    entry.enlist(wait, *this);
    waiting_.push_back(entry);
    return false;
  }
  bool detach(waiter& entry) noexcept override {
    if (Made == mistake::stays_registered) return false;
    return permit_source::detach(entry);
  }

  struct acquiring {
    using value_type = void;
    bool try_now() noexcept { return false; }
    void begin(suspension& wait, waiter& entry) noexcept { from->take_or_list(wait, entry); }
    result<void> take() noexcept { return {}; }
    source* from;
  };
  hocket::primitive::operation<acquiring> get() { return hocket::primitive::operation<acquiring>(acquiring{this}); }
};

template <mistake Made, bool both = true>
void released(execution& run) {
  kept<source<Made>> sources[2];
  place where;
  std::size_t index = 2;
  run.thread("selects", [&] { index = wait_at(where, select(sources[0]->get(), sources[1]->get()))->index(); });
  run.thread("releases 0", [&] { sources[0]->release(); });
  if (both) run.thread("releases 1", [&] { sources[1]->release(); });
  run.join();
  require(index < 2);
  require(sources[index]->free() == 0 && sources[1 - index]->free() == (both ? 1 : 0),
          "two were taken, or the wrong one");
  require(!sources[0]->has_waiters() && !sources[1]->has_waiters(), "somebody still waits");
  for (auto& one : sources) one.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("a select beside two grants and a cancel takes one mutex or none, and loses none") {
  ::verdict::none(fresh, two_unlocked_beside_a_cancel);
}

TEST_CASE("two selects from the same two semaphores get a permit each") {
  ::verdict::none(fresh, two_selects_for_two_permits);
}

TEST_CASE("a select of two sources that are released at once leaves one of them") {
  ::verdict::none(bounds, released<mistake::none>);
}

TEST_CASE("a source that takes its permit without asking the wait loses it") {
  ::verdict::found(bug::assertion, bounds, released<mistake::does_not_ask>);
}

TEST_CASE("a source that does not let a waiter go holds up the select for ever") {
  auto result = model::explore(bounds, released<mistake::stays_registered, false>);
  INFO(result.text());
  CHECK(result.found());
}
