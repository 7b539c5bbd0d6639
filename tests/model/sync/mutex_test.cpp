// The mutex and the auto-reset event under every schedule: one holder at a time, which sees the writes of the last one;
// no waiter is forgotten when others are cancelled; and no thread touches the mutex after its last holder has destroyed
// it.
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/mutex.hpp>

#include "sync/baton.cpp"  // for strengths that are broken on purpose
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

// Two threads count under a mutex; the last one frees it.
template <class Strength>
struct counting {
  hocket::basic_mutex<Strength> mutex;
  var<int> entered{0, "entered"};
};

template <class Strength>
void count_and_free(execution& run) {
  kept<counting<Strength>> shared;
  place places[2];
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "one" : "other", [&, i] {
      auto held = wait_at(places[i], shared->mutex.lock());
      require(held.has_value());
      shared->entered = shared->entered + 1;
      bool last = shared->entered == 2;
      held->unlock();
      if (last) shared.free();
    });
  }
  run.join();
}

// A lock is cancelled while the mutex is unlocked, and repeated; then the mutex is freed.
template <class Strength>
void lock_twice_and_free(execution& run) {
  kept<counting<Strength>> shared;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  auto held = shared->mutex.try_lock();
  run.thread("waits", [&] {
    auto mine = wait_at(mortal, shared->mutex.lock());
    if (!mine) mine = wait_at(patient, shared->mutex.lock());
    require(shared->entered == 1);
    mine->unlock();
    shared.free();
  });
  run.thread("unlocks", [&] {
    shared->entered = 1;
    held.unlock();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// The mutex is unlocked while its only waiter is cancelled: the waiter gets it, or it is free.
void unlocked_beside_a_cancel(execution& run) {
  kept<hocket::mutex> mutex;
  kept<stop_source> stop;
  place where(&*stop);
  auto held = mutex->try_lock();
  one_wait waiting(where, mutex->lock());
  bool granted = false;
  run.thread("waits", [&] {
    auto got = waiting.end();
    granted = got.has_value();
    if (!granted) require(got.error() == std::errc::operation_canceled);
  });
  run.thread("unlocks", [&] { held.unlock(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(static_cast<bool>(mutex->try_lock()), "the mutex is lost");
  mutex.free();
  stop.free();
}

// The first of two waiters is cancelled while the mutex is unlocked: the second gets it in any case.
template <class Strength>
void cancelled_before_another(execution& run) {
  kept<hocket::basic_mutex<Strength>> mutex;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  auto held = mutex->try_lock();
  one_wait first(places[0], mutex->lock());
  one_wait second(places[1], mutex->lock());
  run.thread("wait", [&] {
    (void)first.end();
    require(second.end().has_value());
  });
  run.thread("unlocks", [&] { held.unlock(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(static_cast<bool>(mutex->try_lock()), "the mutex is lost");
  mutex.free();
  stop.free();
}

// Two wait, and are cancelled while the mutex is unlocked, which finds the queue empty. The next holder frees it.
template <class Strength>
void lock_and_free_after_two(execution& run) {
  kept<counting<Strength>> shared;
  kept<stop_source> stop;
  place mortals[] = {place(&*stop), place(&*stop)};
  place patient;
  auto held = shared->mutex.try_lock();
  one_wait first(mortals[0], shared->mutex.lock());
  one_wait second(mortals[1], shared->mutex.lock());
  run.thread("waits", [&] {
    (void)first.end();
    (void)second.end();
    auto mine = wait_at(patient, shared->mutex.lock());
    require(shared->entered == 1);
    mine->unlock();
    shared.free();
  });
  run.thread("unlocks", [&] {
    shared->entered = 1;
    held.unlock();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// A second waiter moves the first from the word into the queue, while the mutex is unlocked and the first
// is cancelled.
template <class Strength>
void second_beside_a_cancel(execution& run) {
  kept<hocket::basic_mutex<Strength>> mutex;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  auto held = mutex->try_lock();
  one_wait first(places[0], mutex->lock());
  run.thread("comes second", [&] {
    one_wait second(places[1], mutex->lock());
    (void)first.end();
    require(second.end().has_value());
  });
  run.thread("unlocks", [&] { held.unlock(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(static_cast<bool>(mutex->try_lock()), "the mutex is lost");
  mutex.free();
  stop.free();
}

// Two make work and set; one waits until it has seen both. Only the event orders what they make.
template <class Strength>
void work_for_one(execution& run) {
  kept<hocket::basic_auto_reset_event<Strength>> made;
  hocket::primitive::atomic<int> work[2]{{0, "work 0"}, {0, "work 1"}};
  place where;
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "makes 0" : "makes 1", [&, i] {
      work[i].store(1, std::memory_order_relaxed);
      made->set();
    });
  }
  run.thread("consumes", [&] {
    while (work[0].load(std::memory_order_relaxed) + work[1].load(std::memory_order_relaxed) < 2)
      require(wait_at(where, made->wait()).has_value());
  });
  run.join();
  made.free();
}

// Two waiters have left the queue. A thread that finds the event set sees the writes after that.
template <class Strength>
void work_after_two_have_left(execution& run) {
  kept<hocket::basic_auto_reset_event<Strength>> made;
  kept<stop_source> stop;
  var<int> work{0, "work"};
  place mortals[] = {place(&*stop), place(&*stop)};
  place patient;
  one_wait first(mortals[0], made->wait());
  one_wait second(mortals[1], made->wait());
  stop->request();
  (void)first.end();
  (void)second.end();
  run.thread("makes", [&] {
    work = 1;
    made->set();
  });
  run.thread("consumes", [&] {
    require(wait_at(patient, made->wait()).has_value());
    require(work == 1);
  });
  run.join();
  made.free();
  stop.free();
}

// --- the mistakes

// The destructor does not wait for a thread that is about to leave the inner mutex.
struct undrained : strength::shared {
  static void drain(mutex&) noexcept {}
};

// No inner mutex: looking at the word and getting in line are two steps.
struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
struct unlocked : strength::shared {
  using mutex = no_mutex;
  static void drain(mutex&) noexcept {}
};

// A set() that leaves an event alone which is set already.
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
  template <class T>
  static T last(const word<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
};

// A mutex that is put back in two steps.
template <class T>
struct split_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  T fetch_sub(T value, std::memory_order how) {
    const T seen = this->load(std::memory_order_relaxed);
    this->store(seen - value, how);
    return seen;
  }
};
struct split : strength::shared {
  template <class T>
  using word = split_word<T>;
  template <class T>
  static T last(const word<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("a mutex has one holder at a time, who sees what the last one did, and may destroy it") {
  ::verdict::none(bounds, count_and_free<strength::shared>);
  ::verdict::none(fresh, lock_twice_and_free<strength::shared>);
}

TEST_CASE("a mutex whose only waiter is cancelled is handed over or free") {
  ::verdict::none(bounds, unlocked_beside_a_cancel);
}

TEST_CASE("fault 13: a mutex goes to the second in line when the first one is cancelled meanwhile") {
  ::verdict::none(fresh, cancelled_before_another<strength::shared>);
}

TEST_CASE("the second who waits for a mutex takes the first along, beside a cancel and an unlock") {
  ::verdict::none(fresh, second_beside_a_cancel<strength::shared>);
  ::verdict::none(fresh, lock_and_free_after_two<strength::shared>);
}

TEST_CASE("an auto-reset event that is set twice leaves nothing unseen") {
  ::verdict::none(bounds, work_for_one<strength::shared>);
}

TEST_CASE("a mutex that does not wait for the thread which leaves it is destroyed under that one's feet") {
  auto result = model::explore(bounds, lock_and_free_after_two<undrained>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a mutex that gets in line in two steps forgets somebody") {
  auto result = model::explore(bounds, second_beside_a_cancel<unlocked>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("an auto-reset event whose line was left by all is set for the next") {
  ::verdict::none(bounds, work_after_two_have_left<strength::shared>);
}

TEST_CASE("a mutex that is put back in two steps forgets who came in between") {
  ::verdict::found(bug::lost_wakeup, bounds, count_and_free<split>);
}

TEST_CASE("an event that is not written when it is set already loses a wake-up") {
  ::verdict::found(bug::lost_wakeup, bounds, work_for_one<lazy>);
}

TEST_CASE("no ordering of a mutex could be weaker") {
  auto unneeded =
      model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, count_and_free<strength::shared>,
                                lock_twice_and_free<strength::shared>, second_beside_a_cancel<strength::shared>,
                                work_after_two_have_left<strength::shared>);
  CHECK(unneeded_in("baton.hpp", unneeded) == "");
  CHECK(unneeded_in("baton.cpp", unneeded) == "");
}
