// The monitor under every schedule: one owner at a time, which recognises only itself, on any thread on which it
// continues. After a wait the owner holds the monitor again, as often as before, however the wait ended. All orderings
// of the monitor itself are relaxed; mutex_test.cpp checks the orderings of its baton.
#include <hocket/sync/monitor.hpp>

#include "sync/baton.cpp"           // for strengths that are broken on purpose
#include "sync/condition_core.cpp"  // as above
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

// A guard does not end with an execution that has shown a mistake: that would be one more, and fatal.
template <class Strength>
using held = kept<typename hocket::basic_monitor<Strength>::guard>;

template <class Strength>
struct guarded {
  hocket::basic_monitor<Strength> monitor;
  var<int> entered{0, "entered"};

  held<Strength> come(place& where) {
    auto in = wait_at(where, monitor.enter());
    require(in.has_value());
    return held<Strength>(*std::move(in));
  }
  // By its owner, once more.
  void enter_again() {
    held<Strength> again(monitor.try_enter());
    require(static_cast<bool>(*again), "the owner does not know himself");
    entered = entered + 1;
    again.free();
  }
};

// One enters twice in a row, beside another one; the last one frees the monitor.
template <class Strength>
void enter_and_free(execution& run) {
  kept<guarded<Strength>> shared;
  place places[2];
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "one" : "other", [&, i] {
      bool last = false;
      for (int round = 0; round <= i; ++round) {
        auto in = shared->come(places[i]);
        shared->enter_again();
        last = shared->entered == 3;
        in.free();
      }
      if (last) shared.free();
    });
  }
  run.join();
}

// One has entered twice, and waits until something was entered; then he is in it until he has left twice.
template <class Strength>
void look_and_wait(execution& run) {
  kept<guarded<Strength>> shared;
  place places[2];
  run.thread("waits", [&] {
    auto in = shared->come(places[0]);
    held<Strength> again(shared->monitor.try_enter());
    while (shared->entered == 0) require(wait_at(places[0], shared->monitor.wait(*again)).has_value());
    again.free();
    shared->entered = shared->entered + 1;
    in.free();
  });
  run.thread("makes", [&] {
    auto in = shared->come(places[1]);
    shared->entered = shared->entered + 1;
    in.free();
    shared->monitor.notify_one();
  });
  run.join();
  require(shared->entered == 2);
  require(static_cast<bool>(shared->monitor.try_enter()), "the monitor is lost");
  shared.free();
}

// A wait begins on one thread and ends on another one, while a third party enters to notify. There may be a cancel in
// between.
template <class Strength, bool cancels>
void go_on_elsewhere(execution& run) {
  kept<guarded<Strength>> shared;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  places[0].enter();
  held<Strength> in(shared->monitor.try_enter()), again(shared->monitor.try_enter());
  one_wait waiting(places[0], shared->monitor.wait(*in));
  run.thread("goes on", [&] {
    require(waiting.end().has_value() || cancels);
    shared->enter_again();
    again.free();
    in.free();
  });
  run.thread("notifies", [&] {
    auto mine = shared->come(places[1]);
    shared->enter_again();
    require(shared->monitor.notify_one() || cancels);
    mine.free();
  });
  if (cancels) run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(shared->entered == 2);
  require(static_cast<bool>(shared->monitor.try_enter()), "the monitor is lost");
  shared.free();
  stop.free();
}

// --- the mistakes

template <template <class> class Word>
struct with_word : strength::shared {
  template <class T>
  using word = Word<T>;
  template <class T>
  static T last(const word<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
};

// The leaving owner does not clear its name.
template <class T>
struct named_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  void store(T value, std::memory_order how) {
    if (value) hocket::primitive::atomic<T>::store(value, how);
  }
};

// The leaving owner clears its name after it has released the monitor: the word of the baton does so.
struct late_name : hocket::primitive::atomic<const void*> {
  explicit late_name(const void* value) : atomic(value) { waiting = nullptr; }
  void store(const void* value, std::memory_order how) {
    if (value) atomic::store(value, how);
    else waiting = this;
  }
  static inline late_name* waiting = nullptr;
};
template <class T>
struct late_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  T fetch_sub(T value, std::memory_order how) {
    late_name* const name = std::exchange(late_name::waiting, nullptr);
    const T seen = hocket::primitive::atomic<T>::fetch_sub(value, how);
    if (name) name->atomic::store(nullptr, std::memory_order_relaxed);
    return seen;
  }
};
template <>
struct late_word<const void*> : late_name {
  using late_name::late_name;
};

// The owner does not store its name again after a wait.
template <class T>
struct anonymous_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  void store(T value, std::memory_order how) {
    hocket::primitive::atomic<T>::store(value == first_ ? T() : value, how);
    if (!first_) first_ = value;
  }

 private:
  T first_{};
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("a monitor has one owner at a time, who enters again, sees what the last one did, and may destroy it") {
  ::verdict::none(bounds, enter_and_free<strength::shared>);
}

TEST_CASE("who looks and waits in a monitor misses no notification, and is in it as often as before") {
  ::verdict::none(bounds, look_and_wait<strength::shared>);
}

TEST_CASE("whose wait in a monitor began on another thread is its owner, notified or cancelled") {
  ::verdict::none(bounds, go_on_elsewhere<strength::shared, false>);
  ::verdict::none(fresh, go_on_elsewhere<strength::shared, true>);
}

TEST_CASE("a monitor whose owner leaves his name behind takes him for its owner") {
  auto result = model::explore(bounds, enter_and_free<with_word<named_word>>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a monitor whose owner takes his name away too late touches one that is gone") {
  ::verdict::found(bug::data_race, bounds, enter_and_free<with_word<late_word>>);
}

TEST_CASE("a monitor that does not know again who has waited keeps him out") {
  ::verdict::found(bug::assertion, bounds, go_on_elsewhere<with_word<anonymous_word>, false>);
}
