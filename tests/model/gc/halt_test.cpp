// Stopping the world under every schedule: who has stopped it has what the others know for himself; nobody waits for
// ever; and a thread that comes back without a look at the phase, or does not wake the one that waits, is found.
#include <hocket/gc/detail/halt.hpp>

#include "verdict.hpp"

namespace {

using hocket::gc::detail::halt;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
namespace model = hocket::model;

struct world {
  halt phase;
  halt::mark mark{halt::inside, "mark"};
  var<int> state{0, "what the thread knows"};

  void stop() {
    phase.begin();
    halt::await(mark);
    state = state + 100;
    phase.end();
  }
  void work() {
    state = state + 1;
    phase.leave(mark);
    phase.reenter(mark);
    state = state + 1;
    phase.leave(mark);  // for ever
  }
};

void stopped_twice(execution& run) {
  world t;
  run.thread("works", [&] { t.work(); });
  run.thread("stops", [&] {
    t.stop();
    t.stop();
  });
  run.join();
  require(t.state == 202);
}

// Each of two threads.
void two_are_stopped(execution& run) {
  world t, other;
  run.thread("works", [&] { t.work(); });
  run.thread("works, too", [&] { other.work(); });
  run.thread("stops", [&] {
    t.phase.begin();
    halt::await(t.mark);
    t.state = t.state + 100;
    t.phase.end();
  });
  run.join();
  require(t.state == 102);
}

void comes_back_without_a_look(execution& run) {
  world t;
  run.thread("works", [&] {
    t.phase.leave(t.mark);
    t.mark.store(halt::inside);
    t.state = t.state + 1;
    t.phase.leave(t.mark);
  });
  run.thread("stops", [&] { t.stop(); });
  run.join();
}

void leaves_without_a_wake(execution& run) {
  world t;
  run.thread("works", [&] {
    t.state = t.state + 1;
    t.mark.store(halt::outside);
  });
  run.thread("stops", [&] { t.stop(); });
  run.join();
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};

}  // namespace

TEST_CASE("whoever has stopped the world has what the others know for himself") {
  ::verdict::none(bounds, stopped_twice);
  ::verdict::none(bounds, two_are_stopped);
}

TEST_CASE("a thread that comes back without a look at the phase is found") {
  ::verdict::found(bug::data_race, bounds, comes_back_without_a_look);
}

TEST_CASE("a thread that leaves without a wake lets the one that stops wait for ever") {
  ::verdict::found(bug::lost_wakeup, bounds, leaves_without_a_wake);
}
