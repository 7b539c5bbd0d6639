// The shared mutex under every schedule: a writer is alone, and the next holder sees its writes; readers in a row do
// not wait for each other; a cancelled writer blocks no other; and the last writer may destroy the mutex.
#include <hocket/sync/shared_mutex.hpp>

#include "sync/permit_queue.cpp"  // for strengths that are broken on purpose
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
struct shared_pair {
  hocket::basic_shared_mutex<Strength> mutex;
  var<int> left{0, "left"}, right{0, "right"};
  var<int> writers{0, "writers"};
};

// Two write; the last one frees the mutex.
template <class Strength>
void write_and_free(execution& run) {
  kept<shared_pair<Strength>> shared;
  place places[2];
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "one" : "other", [&, i] {
      auto held = wait_at(places[i], shared->mutex.lock());
      require(held.has_value());
      shared->writers = shared->writers + 1;
      bool last = shared->writers == 2;
      held->unlock();
      if (last) shared.free();
    });
  }
  run.join();
}

// One writes both, two read both.
template <class Strength>
void write_and_read(execution& run) {
  kept<shared_pair<Strength>> shared;
  place places[3];
  run.thread("writes", [&] {
    auto held = wait_at(places[0], shared->mutex.lock());
    shared->left = 1;
    shared->right = 1;
  });
  for (int i = 1; i < 3; ++i) {
    run.thread("reads", [&, i] {
      auto held = wait_at(places[i], shared->mutex.lock_shared());
      require(shared->left == shared->right);
    });
  }
  run.join();
  require(static_cast<bool>(shared->mutex.try_lock()), "the mutex is lost");
  shared.free();
}

// A reader ends while a writer waits, which then frees the mutex; the writer is cancelled meanwhile, and locks again.
template <class Strength>
void lock_twice_and_free(execution& run) {
  kept<shared_pair<Strength>> shared;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  auto reader = shared->mutex.try_lock_shared();
  run.thread("writes", [&] {
    auto held = wait_at(mortal, shared->mutex.lock());
    if (!held) held = wait_at(patient, shared->mutex.lock());
    require(shared->left == 1);
    held->unlock();
    shared.free();
  });
  run.thread("reads", [&] {
    shared->left = 1;  // what the writer is to see
    reader.unlock();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// A writer waits behind a reader, and another reader behind the writer. The writer is cancelled: the second reader gets
// in, though the first one stays.
void head_cancelled(execution& run) {
  kept<hocket::shared_mutex> mutex;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  auto stays = mutex->try_lock_shared();
  one_wait first(places[0], mutex->lock());
  run.thread("wait", [&] {
    one_wait second(places[1], mutex->lock_shared());
    require(second.end().has_value());
    require(!first.end());
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stays.unlock();
  require(static_cast<bool>(mutex->try_lock()), "the mutex is lost");
  mutex.free();
  stop.free();
}

// Two readers wait behind a writer that unlocks, one of them is cancelled: the other does not need it to go on.
template <class Strength>
void readers_together(execution& run) {
  kept<shared_pair<Strength>> shared;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  auto writer = shared->mutex.try_lock();
  one_wait first(places[0], shared->mutex.lock_shared());
  one_wait second(places[1], shared->mutex.lock_shared());
  run.thread("writes", [&] {
    shared->left = 1;
    writer.unlock();
  });
  run.thread("read", [&] {
    auto two = second.end();
    require(two.has_value() && shared->left == 1);
    auto one = first.end();
    if (one) require(shared->left == 1);
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(static_cast<bool>(shared->mutex.try_lock()), "the mutex is lost");
  shared.free();
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
// Unlocking orders nothing.
template <class T>
struct loose_word : hocket::primitive::atomic<T> {
  using hocket::primitive::atomic<T>::atomic;
  bool compare_exchange_weak(T& seen, T value, std::memory_order won, std::memory_order lost) {
    return hocket::primitive::atomic<T>::compare_exchange_weak(
        seen, value, won == std::memory_order_release ? std::memory_order_relaxed : won, lost);
  }
};
struct loose : strength::shared {
  template <class T>
  using word = loose_word<T>;
  template <class T>
  static T last(const word<T>& word) noexcept {
    return word.load(std::memory_order_relaxed);
  }
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("a shared mutex has one writer at a time, who sees what the last one did, and may destroy it") {
  ::verdict::none(bounds, write_and_free<strength::shared>);
  ::verdict::none(fresh, lock_twice_and_free<strength::shared>);
}

TEST_CASE("readers of a shared mutex see the work of a writer whole") {
  ::verdict::none(fresh, write_and_read<strength::shared>);
}

TEST_CASE("fault 13: a writer that is cancelled keeps no reader out, whenever that one comes") {
  ::verdict::none(fresh, head_cancelled);
}

TEST_CASE("fault 12: readers who are let in together do not need each other, beside a cancel") {
  ::verdict::none(fresh, readers_together<strength::shared>);
}

TEST_CASE("a shared mutex that does not wait for the thread which leaves it is destroyed under that one's feet") {
  auto result = model::explore(bounds, lock_twice_and_free<undrained>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a shared mutex that gets in line in two steps forgets somebody") {
  auto result = model::explore(bounds, write_and_free<unlocked>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a shared mutex whose unlock orders nothing shows half of what was written") {
  ::verdict::found(bug::data_race, bounds, write_and_read<loose>);
}

TEST_CASE("no ordering of a shared mutex could be weaker") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0},
                                            lock_twice_and_free<strength::shared>, write_and_read<strength::shared>,
                                            readers_together<strength::shared>);
  CHECK(unneeded_in("sync/shared_mutex.hpp", unneeded) == "");
}
