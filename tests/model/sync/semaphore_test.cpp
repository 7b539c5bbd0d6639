// The semaphore under every schedule: permits are conserved, each waiter that can be served is served, beside a cancel,
// too, and an acquirer sees the writes before the release of its permits.
#include <hocket/sync/semaphore.hpp>

#include "sync/permit_queue.cpp"  // for strengths that are broken on purpose
#include "sync/waits.hpp"

namespace {

using hocket::semaphore;
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

// One permit, two threads: a mutex, in effect. The last thread frees the semaphore.
template <class Strength>
struct counting {
  hocket::basic_semaphore<Strength> permit{1};
  var<int> entered{0, "entered"};
};
template <class Strength>
void count_and_free(execution& run) {
  kept<counting<Strength>> shared;
  place places[2];
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "one" : "other", [&, i] {
      auto mine = wait_at(places[i], shared->permit.acquire());
      require(mine.has_value());
      shared->entered = shared->entered + 1;
      bool last = shared->entered == 2;
      mine->release();
      if (last) shared.free();
    });
  }
  run.join();
}

// An acquire is cancelled while the permit is released, and repeated; then the semaphore is freed.
template <class Strength>
void acquire_twice_and_free(execution& run) {
  kept<counting<Strength>> shared;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  shared->permit.try_acquire().forget();
  run.thread("waits", [&] {
    auto mine = wait_at(mortal, shared->permit.acquire());
    if (!mine) mine = wait_at(patient, shared->permit.acquire());
    require(shared->entered == 1);
    mine->forget();
    shared.free();
  });
  run.thread("releases", [&] {
    shared->entered = 1;
    shared->permit.release();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
}

// Two releases of one permit each, by different threads, and a waiter for two: it sees the writes of both.
template <class Strength>
void both_for_one(execution& run) {
  kept<hocket::basic_semaphore<Strength>> permits(0u);
  var<int> made[2];
  place where;
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "makes 0" : "makes 1", [&, i] {
      made[i] = 1;
      permits->release();
    });
  }
  run.thread("wants 2", [&] {
    auto mine = wait_at(where, permits->acquire(2));
    require(mine.has_value());
    require(made[0] == 1 && made[1] == 1);
  });
  run.join();
  require(permits->available() == 2, "permits were lost, or made");
  permits.free();
}

// The first waiter wants two permits, the second one. The first is cancelled while one permit is released: the second
// gets it, whichever is first.
void head_cancelled(execution& run) {
  kept<semaphore> permits(0u);
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  one_wait first(places[0], permits->acquire(2));
  one_wait second(places[1], permits->acquire(1));
  run.thread("wait", [&] {
    require(!first.end());
    require(second.end().has_value());
  });
  run.thread("releases", [&] { permits->release(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(permits->available() == 1, "permits were lost, or made");
  permits.free();
  stop.free();
}

// Both are served by one release while the first is cancelled: what it did not get goes on to the second.
void served_together(execution& run) {
  kept<semaphore> permits(0u);
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  one_wait first(places[0], permits->acquire(1));
  one_wait second(places[1], permits->acquire(2));
  run.thread("wait", [&] {
    (void)first.end();
    require(second.end().has_value());
  });
  run.thread("releases", [&] { permits->release(2); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(permits->available() == 2, "permits were lost, or made");
  permits.free();
  stop.free();
}

// Two waits share one stop source, so its list is used, which has a mutex.
void both_cancelled(execution& run) {
  kept<semaphore> s(0u);
  kept<stop_source> stop;
  place places[] = {place(&*stop), place(&*stop)};
  one_wait first(places[0], s->acquire());
  one_wait second(places[1], s->acquire());
  std::size_t had = 0;
  run.thread("wait", [&] {
    for (auto* one : {&first, &second}) {
      if (auto got = one->end()) had += got->forget();
    }
  });
  run.thread("releases", [&] { s->release(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  require(had + s->available() == 1, "a permit was lost, or made");
  s.free();
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

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("one permit is had by one at a time, who sees what the last one did, and may destroy the semaphore") {
  ::verdict::none(bounds, count_and_free<strength::shared>);
  ::verdict::none(fresh, acquire_twice_and_free<strength::shared>);
}

TEST_CASE("who gets the permits of two releases sees what both have done") {
  ::verdict::none(bounds, both_for_one<strength::shared>);
}

TEST_CASE("fault 13: the second in line is served when the first one is cancelled") {
  ::verdict::none(fresh, head_cancelled);
}

TEST_CASE("a release beside one cancel of two waits grants or leaves one permit") {
  ::verdict::none(fresh, both_cancelled);
}

TEST_CASE("fault 12: permits for two, of whom one is cancelled, are conserved") {
  ::verdict::none(fresh, served_together);
}

TEST_CASE("a semaphore that does not wait for the thread which leaves it is destroyed under that one's feet") {
  auto result = model::explore(bounds, acquire_twice_and_free<undrained>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("a semaphore that gets in line in two steps forgets somebody") {
  auto result = model::explore(bounds, both_for_one<unlocked>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("no ordering of a semaphore could be weaker") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0},
                                            acquire_twice_and_free<strength::shared>, both_for_one<strength::shared>);
  CHECK(unneeded_in("permit_queue.hpp", unneeded) == "");
  CHECK(unneeded_in("permit_queue.cpp", unneeded) == "");
}
