// The example of docs/writing-a-primitive.md under every schedule. tests/mutants/turnstile_*.mutant are the variants
// that must fail.
#include "../../../examples/turnstile.hpp"

#include <hocket/core/stop.hpp>

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
namespace model = hocket::model;

// A coroutine that passes sees what was done before the turnstile was opened, and may destroy it at once.
void passes_and_destroys(execution& run) {
  kept<turnstile> gate;
  var<int> made;
  place where;
  run.thread("passes", [&] {
    require(wait_at(where, gate->pass()).has_value());
    require(made == 1);
    gate.free();
  });
  run.thread("opens", [&] {
    made = 1;
    gate->let_one_through();
  });
  run.join();
}

// One of two waits is cancelled while one may pass: one passes, or the next may.
void one_is_cancelled(execution& run) {
  kept<turnstile> gate;
  kept<stop_source> stop;
  place places[] = {place(&*stop), place()};
  one_wait first(places[0], gate->pass());
  one_wait second(places[1], gate->pass());
  bool passed = false;
  run.thread("wait", [&] {
    passed = first.end().has_value();
    if (passed) gate->let_one_through();
    require(second.end().has_value());
  });
  run.thread("opens", [&] { gate->let_one_through(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  gate.free();
  stop.free();
}

// A wait begins beside its cancel, and beside the opening: whatever it gives, the turnstile lets one through in all.
void begins_beside_both(execution& run) {
  kept<turnstile> gate;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  run.thread("passes", [&] {
    if (!wait_at(mortal, gate->pass())) require(wait_at(patient, gate->pass()).has_value());
  });
  run.thread("opens", [&] { gate->let_one_through(); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  gate.free();
  stop.free();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options fresh{.preemptions = 2, .stale_reads = 0, .spurious = 0};

}  // namespace

TEST_CASE("whoever passes the turnstile sees what was done before it was opened, and may destroy it") {
  ::verdict::none(bounds, passes_and_destroys);
}

TEST_CASE("a passage is neither lost nor doubled when the first in line is cancelled") {
  ::verdict::none(fresh, one_is_cancelled);
}

TEST_CASE("a passage is neither lost nor doubled when a wait begins beside its cancel") {
  ::verdict::none(fresh, begins_beside_both);
}
