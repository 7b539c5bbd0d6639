// The event under every schedule: set() wakes every waiter, also beside a cancel or a reset; a woken waiter sees the
// writes before the set(), and may destroy the event.
#include <hocket/sync/event.hpp>

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
  hocket::basic_event<Strength> made;
  var<int> thing{0, "thing"};
};

// The waiter frees the event as soon as it is woken. `cancels`: a first wait is cancelled at the same
// time, and a second one, which may not have to suspend, follows.
template <class Strength, bool cancels>
void wait_and_free(execution& run) {
  kept<made_here<Strength>> shared;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  run.thread("makes", [&] {
    shared->thing = 1;
    shared->made.set();
  });
  run.thread("waits", [&] {
    if (!cancels || !wait_at(mortal, shared->made.wait())) require(wait_at(patient, shared->made.wait()).has_value());
    require(shared->thing == 1);
    shared.free();
  });
  if (cancels) run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// "Reset, look, wait" against "make, set", with an event that is set at first. Only the event orders the work.
template <class Strength>
void reset_and_look(execution& run) {
  kept<hocket::basic_event<Strength>> made(true);
  hocket::primitive::atomic<int> work{0, "work"};
  place where;
  run.thread("makes", [&] {
    work.store(1, std::memory_order_relaxed);
    made->set();
  });
  run.thread("consumes", [&] {
    for (;;) {
      made->reset();
      if (work.load(std::memory_order_relaxed) == 1) return;
      require(wait_at(where, made->wait()).has_value());
    }
  });
  run.join();
  made.free();
}

// Two wait, and are cancelled while the event is set, which finds the queue empty. The waiter that passes frees it.
template <class Strength>
void wait_and_free_after_two(execution& run) {
  kept<made_here<Strength>> shared;
  kept<stop_source> stop;
  place mortals[] = {place(&*stop), place(&*stop)};
  place patient;
  one_wait first(mortals[0], shared->made.wait());
  one_wait second(mortals[1], shared->made.wait());
  run.thread("makes", [&] {
    shared->thing = 1;
    shared->made.set();
  });
  run.thread("waits", [&] {
    (void)first.end();
    (void)second.end();
    require(wait_at(patient, shared->made.wait()).has_value());
    require(shared->thing == 1);
    shared.free();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// Two begin to wait, and the second may move the first to the queue, while the event is set.
void two_come(execution& run) {
  kept<hocket::event> event;
  place places[2];
  for (place& where : places) run.thread("comes", [&] { require(wait_at(where, event->wait()).has_value()); });
  run.thread("sets", [&] { event->set(); });
  run.join();
  event.free();
}

// A second waiter moves the first from the word into the queue, while the event is set and the first is
// cancelled.
template <class Strength>
void second_beside_a_cancel(execution& run) {
  kept<hocket::basic_event<Strength>> event;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  one_wait first(places[0], event->wait());
  run.thread("comes second", [&] {
    one_wait second(places[1], event->wait());
    (void)first.end();
    require(second.end().has_value());
  });
  run.thread("sets", [&] { event->set(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  event.free();
  stop.free();
}

// All earlier waiters continue after the set(), although the event is reset at once, and one of them is cancelled.
void set_and_reset_beside_a_cancel(execution& run) {
  kept<hocket::event> event;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  one_wait first(places[0], event->wait());
  one_wait second(places[1], event->wait());
  run.thread("wait", [&] {
    (void)first.end();
    require(second.end().has_value());
  });
  run.thread("sets", [&] {
    event->set();
    event->reset();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(!event->is_set());
  event.free();
  stop.free();
}

// --- the mistakes

struct undrained : strength::shared {
  static void drain(mutex&) noexcept {}
};
struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
struct unlocked : strength::shared {
  using mutex = no_mutex;
  static void drain(mutex&) noexcept {}
};
template <class T>
struct lazy_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  bool compare_exchange_weak(T& seen, T value, std::memory_order won, std::memory_order lost) {
    if (seen == value && this->load(std::memory_order_relaxed) == seen) return true;
    return hocket::primitive::atomic<T>::compare_exchange_weak(seen, value, won, lost);
  }
};
struct lazy : strength::shared {
  template <class T>
  using word = lazy_word<T>;
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("whoever an event lets through sees what was made, and may destroy the event") {
  ::verdict::none(bounds, wait_and_free<strength::shared, false>);
  ::verdict::none(fresh, wait_and_free<strength::shared, true>);
}

TEST_CASE("reset, look, wait against make, set: nothing is missed") {
  ::verdict::none(bounds, reset_and_look<strength::shared>);
}

TEST_CASE("the second who waits for an event takes the first along, beside a cancel and a set") {
  ::verdict::none(fresh, second_beside_a_cancel<strength::shared>);
  ::verdict::none(fresh, wait_and_free_after_two<strength::shared>);
  ::verdict::none(bounds, two_come);
}

TEST_CASE("a set ends all waits that had begun, beside a cancel, and though it is reset") {
  ::verdict::none(fresh, set_and_reset_beside_a_cancel);
}

TEST_CASE("an event that does not wait for the thread which leaves it is destroyed under that one's feet") {
  auto result = model::explore(bounds, wait_and_free_after_two<undrained>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("an event that gets in line in two steps forgets somebody") {
  auto result = model::explore(bounds, second_beside_a_cancel<unlocked>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("an event that is not written when it is set already loses a wake-up") {
  ::verdict::found(bug::lost_wakeup, bounds, reset_and_look<lazy>);
}

TEST_CASE("no ordering of an event could be weaker") {
  auto unneeded =
      model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, reset_and_look<strength::shared>,
                                wait_and_free<strength::shared, true>, two_come,
                                second_beside_a_cancel<strength::shared>, wait_and_free_after_two<strength::shared>);
  CHECK(unneeded_in("event_core.hpp", unneeded) == "");
  CHECK(unneeded_in("event.cpp", unneeded) == "");
}
