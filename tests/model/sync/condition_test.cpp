// The condition under every schedule: no waiter misses a notification, none is lost with a cancelled waiter, and
// the mutex is held after each wait for the condition.
#include <hocket/sync/condition.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::stop_source;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::one_wait;
using hocket_test::place;
using hocket_test::wait_at;
namespace model = hocket::model;
namespace strength = hocket::strength;

template <class Strength>
struct guarded {
  hocket::basic_mutex<Strength> mutex;
  hocket::basic_condition<Strength> changed;
  var<int> ready{0, "ready"};
};

// One waits until something is ready, which the other makes.
template <class Strength>
void look_and_wait(execution& run) {
  kept<guarded<Strength>> shared;
  place places[2];
  run.thread("waits", [&] {
    auto held = wait_at(places[0], shared->mutex.lock());
    while (shared->ready == 0) require(wait_at(places[0], shared->changed.wait(*held)).has_value());
    shared->ready = 2;
  });
  run.thread("makes", [&] {
    auto held = wait_at(places[1], shared->mutex.lock());
    shared->ready = 1;
    held->unlock();
    shared->changed.notify_one();
  });
  run.join();
  require(shared->ready == 2);
  shared.free();
}

// Two wait. The first is cancelled at the same time as a notify_one(): one of them is notified in any case, and each
// has the mutex after its wait.
template <class Strength>
void cancelled_beside_a_notify(execution& run) {
  kept<guarded<Strength>> shared;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  auto one = shared->mutex.try_lock();
  one_wait first(places[0], shared->changed.wait(one));
  auto other = shared->mutex.try_lock();
  require(static_cast<bool>(other), "a wait keeps the mutex");
  one_wait second(places[1], shared->changed.wait(other));
  run.thread("notifies", [&] { shared->changed.notify_one(); });
  run.thread("cancels", [&] { stop->request(); });
  run.thread("first", [&] {
    const bool told = first.end().has_value();
    shared->ready = shared->ready + 1;  // under the mutex
    if (told) shared->changed.notify_one();
    one.unlock();
  });
  run.thread("second", [&] {
    require(second.end().has_value());
    shared->ready = shared->ready + 1;
    other.unlock();
  });
  run.join();
  require(shared->ready == 2);
  require(static_cast<bool>(shared->mutex.try_lock()), "the mutex is lost");
  shared.free();
  stop.free();
}

// Two wait, and one of them may be cancelled, at the same time as notify_one() and notify_all(): the number of notified
// waiters is the number of accepted notifications, and no waiter that was not cancelled still waits.
template <bool cancels>
void all_beside_one(execution& run) {
  kept<guarded<strength::shared>> shared;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  auto one = shared->mutex.try_lock();
  one_wait first(places[0], shared->changed.wait(one));
  auto other = shared->mutex.try_lock();
  one_wait second(places[1], shared->changed.wait(other));
  std::size_t accepted[2] = {};
  bool told[2] = {};
  run.thread("notifies one", [&] { accepted[0] = shared->changed.notify_one() ? 1 : 0; });
  run.thread("notifies all", [&] { accepted[1] = shared->changed.notify_all(); });
  if (cancels) run.thread("cancels", [&] { stop->request(); });
  run.thread("first", [&] {
    told[0] = first.end().has_value();
    one.unlock();
  });
  run.thread("second", [&] {
    told[1] = second.end().has_value();
    other.unlock();
  });
  run.join();
  require(told[1] && (told[0] || cancels), "a notification is lost");
  require(accepted[0] + accepted[1] == std::size_t{told[0]} + std::size_t{told[1]},
          "a notification was counted wrongly");
  require(static_cast<bool>(shared->mutex.try_lock()), "the mutex is lost");
  shared.free();
  stop.free();
}

// --- the mistakes

// A lock and a condition with waits that release the lock first, and queue afterwards.
struct bare_lock final : hocket::detail::baton<strength::shared> {
  bare_lock() : baton(free) {}
  using baton::begin;
  using baton::put_back;
  using baton::try_take;
  const char* what() const noexcept override { return "a lock"; }
};
struct locking {
  using value_type = void;
  bare_lock* lock;
  bool try_now() noexcept { return lock->try_take(); }
  void begin(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept {
    lock->begin(wait, entry);
  }
  hocket::result<void> take() noexcept { return {}; }
};
struct bare_condition final : hocket::detail::condition_core<strength::shared> {
  using condition_core::enqueue;
  using typename condition_core::request;
  const char* what() const noexcept override { return "a condition"; }
};
template <bool Hasty>
struct waiting {
  using value_type = void;
  bare_condition* condition;
  bare_lock* lock;
  bare_condition::request request{nullptr};
  static bool try_now() noexcept { return false; }
  void begin(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept {
    request.lock = lock;
    if (Hasty) lock->put_back();
    condition->enqueue(wait, entry, request);
    if (!Hasty) lock->put_back();
  }
  hocket::result<void> take() noexcept { return {}; }
};

template <bool Hasty>
void give_up_and_wait(execution& run) {
  struct all {
    bare_lock lock;
    bare_condition changed;
    var<int> ready{0, "ready"};
  };
  kept<all> shared;
  place places[2];
  run.thread("waits", [&] {
    (void)wait_at(places[0], hocket::primitive::operation(locking{&shared->lock}));
    while (shared->ready == 0) {
      waiting<Hasty> wait{&shared->changed, &shared->lock};
      (void)wait_at(places[0], hocket::primitive::operation(wait));
    }
    shared->lock.put_back();
  });
  run.thread("makes", [&] {
    (void)wait_at(places[1], hocket::primitive::operation(locking{&shared->lock}));
    shared->ready = 1;
    shared->lock.put_back();
    shared->changed.notify_one();
  });
  run.join();
  shared.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("who looks and waits for a condition misses no notification") {
  ::verdict::none(bounds, look_and_wait<strength::shared>);
}

TEST_CASE("faults 12 and 14: a notification beside a cancel goes to one of two, and both have the mutex again") {
  ::verdict::none(fresh, cancelled_beside_a_notify<strength::shared>);
}

TEST_CASE("fault 14: of a notification of one and one of all beside each other none is lost, and a cancel loses none") {
  ::verdict::none(fresh, all_beside_one<false>);
  ::verdict::none({.preemptions = 1, .stale_reads = 0, .spurious = 0}, all_beside_one<true>);
}

TEST_CASE("a wait that gives the lock up before it is in line misses a notification") {
  ::verdict::none(bounds, give_up_and_wait<false>);
  ::verdict::found(bug::lost_wakeup, bounds, give_up_and_wait<true>);
}
