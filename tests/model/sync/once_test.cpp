// The once under every schedule: one caller at a time does the work, and it is done once; each caller that passes sees
// it; a failed turn goes to the next caller; and every caller passes, beside a cancel, too.
#include <hocket/sync/once.hpp>

#include "sync/baton.cpp"  // for strengths that are broken on purpose
#include "sync/waits.hpp"

namespace {

using hocket::stop_source;
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
struct making {
  hocket::basic_once<Strength> once;
  var<int> made{0, "made"};

  // False: it was cancelled.
  bool come(place& where) {
    auto turn = wait_at(where, once.enter());
    if (!turn) return false;
    if (*turn) {
      require(made == 0, "made before");
      made = 1;
      turn->done();
    }
    require(made == 1, "not made yet");
    return true;
  }
};

template <class Strength, int comers>
void come_and_make(execution& run) {
  kept<making<Strength>> shared;
  place places[comers];
  for (place& where : places) run.thread("comes", [&] { shared->come(where); });
  run.join();
  require(shared->made == 1);
  shared.free();
}

// The turn ends, `done` or not, while two begin to wait; the first of them is cancelled.
template <class Strength, bool done>
void turn_ends_beside_a_cancel(execution& run) {
  kept<making<Strength>> shared;
  kept<stop_source> stop;
  place places[] = {place(), place(&*stop), place()};
  auto turn = wait_at(places[0], shared->once.enter());
  one_wait first(places[1], shared->once.enter());
  run.thread("has the turn", [&] {
    if (done) {
      shared->made = 1;
      turn->done();
    } else {
      turn = hocket::failure(std::errc::broken_pipe);
    }
  });
  run.thread("come", [&] {
    {
      auto got = first.end();
      if (got && !*got) require(shared->made == 1);
    }
    require(shared->come(places[2]));
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(shared->once.is_done());
  shared.free();
  stop.free();
}

// Two wait already, and a third begins to wait, while the work becomes done.
template <class Strength>
void done_before_three(execution& run) {
  kept<making<Strength>> shared;
  place places[4];
  auto turn = wait_at(places[0], shared->once.enter());
  one_wait first(places[1], shared->once.enter());
  one_wait second(places[2], shared->once.enter());
  run.thread("has the turn", [&] {
    shared->made = 1;
    turn->done();
  });
  run.thread("wait", [&] {
    // The second first: it does not need the first one to run.
    require(!*second.end() && shared->made == 1);
    require(!*first.end());
  });
  run.thread("comes", [&] { require(shared->come(places[3])); });
  run.join();
  shared.free();
}

// --- the mistakes

// Whether it is done is read without any order.
template <class T>
struct loose_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  T load(std::memory_order) const { return hocket::primitive::atomic<T>::load(std::memory_order_relaxed); }
};
struct loose : strength::shared {
  template <class T>
  using word = loose_word<T>;
  template <class T>
  static T last(const word<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
};
// done() does not store the state for later callers.
template <class T>
struct silent_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  T exchange(T value, std::memory_order how) {
    if constexpr (std::is_same_v<T, bool>)
      return this->load(how == std::memory_order_release ? std::memory_order_relaxed : how);
    else return hocket::primitive::atomic<T>::exchange(value, how);
  }
};
struct silent : strength::shared {
  template <class T>
  using word = silent_word<T>;
  template <class T>
  static T last(const word<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
};
struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
struct unlocked : strength::shared {
  using mutex = no_mutex;
  static void drain(mutex&) noexcept {}
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("what is done once is done once, and seen by all who come") {
  ::verdict::none(bounds, come_and_make<strength::shared, 2>);
  ::verdict::none(fresh, come_and_make<strength::shared, 3>);
}

TEST_CASE("a turn that ends goes to one who waits, or lets him through, beside a cancel") {
  ::verdict::none(fresh, turn_ends_beside_a_cancel<strength::shared, true>);
  ::verdict::none(fresh, turn_ends_beside_a_cancel<strength::shared, false>);
}

TEST_CASE("all who wait are let through without waiting for each other, and so is who comes meanwhile") {
  ::verdict::none(fresh, done_before_three<strength::shared>);
}

TEST_CASE("a once that looks without an order shows what is not made yet") {
  auto result = model::explore(bounds, come_and_make<loose, 2>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a once that does not say that it is done lets the work be done again") {
  auto result = model::explore(bounds, come_and_make<silent, 2>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a once whose line has no lock forgets somebody") {
  auto result = model::explore(bounds, come_and_make<unlocked, 3>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("no ordering of a once could be weaker") {
  auto unneeded =
      model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, come_and_make<strength::shared, 2>,
                                turn_ends_beside_a_cancel<strength::shared, true>);
  CHECK(unneeded_in("sync/once.hpp", unneeded) == "");
}
