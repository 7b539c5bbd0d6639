// The barrier under every schedule: no party passes before all have arrived, and all see the earlier writes of each;
// one party of each phase is the last; and a cancelled wait has either passed, or withdrawn its arrival.
#include <hocket/sync/barrier.hpp>

#include "sync/barrier.cpp"  // for strengths that are broken on purpose
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

// An arrival that does not ask whether it has passed when others end its wait.
template <class Op>
struct deaf : Op {
  explicit deaf(Op op) : Op(op) {}
  void has_it() = delete;
};
template <class Op>
hocket::primitive::operation<deaf<Op>> make_deaf(hocket::primitive::operation<Op> op) {
  return hocket::primitive::operation<deaf<Op>>(deaf<Op>(std::move(op).unwrap()));
}

template <class Strength, std::size_t parties>
struct meeting {
  hocket::basic_barrier<Strength> barrier{parties};
  var<int> come[parties];
  hocket::primitive::atomic<int> lasts{0, "lasts"};
  hocket::primitive::atomic<int> left{static_cast<int>(parties), "left"};
};

// Each sees in each phase that all have arrived; the last party that returns frees the barrier.
template <class Strength, std::size_t parties, int phases>
void meet_and_free(execution& run) {
  kept<meeting<Strength, parties>> shared;
  place places[parties];
  for (std::size_t i = 0; i < parties; ++i) {
    run.thread("party", [&, i] {
      for (int phase = 1; phase <= phases; ++phase) {
        shared->come[i] = phase;
        auto met = wait_at(places[i], shared->barrier.arrive_and_wait());
        require(met.has_value());
        if (met->last) shared->lasts.fetch_add(1, std::memory_order_relaxed);
        for (auto& come : shared->come) require(come == phase);
        met = wait_at(places[i], shared->barrier.arrive_and_wait());  // all have looked
        require(met.has_value());
      }
      if (shared->left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      require(shared->lasts.load(std::memory_order_relaxed) == phases);
      shared.free();
    });
  }
  run.join();
}

// Two parties, two phases. In the first one a wait is cancelled; if it fails, the party arrives again. So both are in
// step.
template <class Strength, bool listens>
void cancelled_beside_the_last(execution& run) {
  kept<meeting<Strength, 2>> shared;
  kept<stop_source> stop;
  place mortal(&*stop), patient, other;
  run.thread("mortal", [&] {
    shared->come[0] = 1;
    auto met = [&] {
      if constexpr (listens) return wait_at(mortal, shared->barrier.arrive_and_wait());
      else return wait_at(mortal, make_deaf(shared->barrier.arrive_and_wait()));
    }();
    if (!met) require(wait_at(patient, shared->barrier.arrive_and_wait()).has_value());
    require(shared->come[1] == 1);
    require(wait_at(patient, shared->barrier.arrive_and_wait()).has_value());
    shared->come[0] = 2;
  });
  run.thread("other", [&] {
    shared->come[1] = 1;
    require(wait_at(other, shared->barrier.arrive_and_wait()).has_value());
    require(shared->come[0] == 1);
    require(wait_at(other, shared->barrier.arrive_and_wait()).has_value());
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(shared->come[0] == 2);
  shared.free();
  stop.free();
}

// One waits; of two others one is cancelled and drops out, however its wait has ended, and the other one drops out.
template <class Strength>
void dropped_beside_a_cancel(execution& run) {
  kept<hocket::basic_barrier<Strength>> barrier(3u);
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  one_wait first(patient, barrier->arrive_and_wait());
  one_wait second(mortal, barrier->arrive_and_wait());
  run.thread("drops out", [&] { barrier->arrive_and_drop(); });
  run.thread("wait", [&] {
    auto met = second.end();
    if (!met) barrier->arrive_and_drop();
    require(first.end().has_value());
    if (met) barrier->arrive_and_drop();
    require(wait_at(patient, barrier->arrive_and_wait())->last);  // alone by now
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  barrier.free();
  stop.free();
}

// --- the mistakes

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
struct unlocked : strength::shared {
  using mutex = no_mutex;
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("all parties of a barrier meet in each phase, and who returns last may destroy it") {
  ::verdict::none(bounds, meet_and_free<strength::shared, 2, 1>);
  ::verdict::none(fresh, meet_and_free<strength::shared, 2, 2>);
  ::verdict::none(fresh, meet_and_free<strength::shared, 3, 1>);
}

TEST_CASE("an arrival that is cancelled as the phase ends has passed, or was taken back") {
  ::verdict::none(fresh, cancelled_beside_the_last<strength::shared, true>);
}

TEST_CASE("parties drop out of a barrier beside a cancel, and nobody is left behind") {
  ::verdict::none(fresh, dropped_beside_a_cancel<strength::shared>);
}

TEST_CASE("an arrival that does not ask whether it has passed falls out of step") {
  auto result = model::explore(fresh, cancelled_beside_the_last<strength::shared, false>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a barrier without a lock forgets somebody") {
  auto result = model::explore(bounds, meet_and_free<unlocked, 2, 1>);
  INFO(result.text());
  CHECK(result.found());
}
