// The latch under every schedule: a waiter that passes sees the writes before every count, every waiter passes,
// and the waiter may destroy the latch.
#include <hocket/sync/latch.hpp>

#include "sync/event.cpp"  // for strengths that are broken on purpose
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
using ::verdict::unneeded_in;
namespace model = hocket::model;
namespace strength = hocket::strength;

template <class Strength>
struct made_here {
  hocket::basic_latch<Strength> latch{2};
  var<int> made[2];
};

// Two threads write and count; the waiter frees the latch.
template <class Strength>
void wait_and_free(execution& run) {
  kept<made_here<Strength>> shared;
  place where;
  for (std::size_t i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "makes 0" : "makes 1", [&, i] {
      shared->made[i] = 1;
      shared->latch.count_down();
    });
  }
  run.thread("waits", [&] {
    require(wait_at(where, shared->latch.wait()).has_value());
    require(shared->made[0] == 1 && shared->made[1] == 1);
    shared.free();
  });
  run.join();
}

// Two arrive and wait; one of them is cancelled, which takes no count back.
template <class Strength>
void arrive_beside_a_cancel(execution& run) {
  kept<made_here<Strength>> shared;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  for (std::size_t i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "mortal" : "patient", [&, i] {
      shared->made[i] = 1;
      auto got = wait_at(places[i], shared->latch.arrive_and_wait());
      if (got) require(shared->made[0] == 1 && shared->made[1] == 1);
      else require(i == 0 && got.error() == std::errc::operation_canceled);
    });
  }
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(shared->latch.is_ready());
  shared.free();
  stop.free();
}

// --- the mistakes

// Counts that order nothing.
template <class T>
struct loose_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  T fetch_sub(T n, std::memory_order) { return hocket::primitive::atomic<T>::fetch_sub(n, std::memory_order_relaxed); }
};
struct loose : strength::shared {
  template <class T>
  using word = loose_word<T>;
};

// Counts in two steps.
template <class T>
struct torn_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  T fetch_sub(T n, std::memory_order) {
    const T before = this->load(std::memory_order_acquire);
    this->store(before - n, std::memory_order_release);
    return before;
  }
};
struct torn : strength::shared {
  template <class T>
  using word = torn_word<T>;
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("whoever a latch lets through sees what was done before every count, and may destroy it") {
  ::verdict::none(bounds, wait_and_free<strength::shared>);
}

TEST_CASE("two arrive at a latch, and one of them is cancelled: the other goes on") {
  ::verdict::none(fresh, arrive_beside_a_cancel<strength::shared>);
}

TEST_CASE("a latch whose counts order nothing shows what is not made yet") {
  auto result = model::explore(bounds, wait_and_free<loose>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a latch that counts in two steps never opens") {
  ::verdict::found(bug::lost_wakeup, bounds, wait_and_free<torn>);
}

TEST_CASE("no ordering of a latch could be weaker") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0},
                                            wait_and_free<strength::shared>, arrive_beside_a_cancel<strength::shared>);
  CHECK(unneeded_in("sync/latch.hpp", unneeded) == "");
}
