// The go_ahead of the back end `thread`: what the giver wrote is seen, nobody sleeps for ever, and the taker may
// destroy it at once.
#include "context/os_thread/go_ahead.hpp"
#include "verdict.hpp"

#include <memory>

namespace {

using hocket::detail::machine::go_ahead;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;

// A futex that may return for no reason has no end of executions: bounded.
constexpr hocket::model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};

// Two that hand over to each other, as a resumer and a fiber do.
void a_round_trip(execution& run) {
  var<int> word{0, "word"};
  auto there = std::make_unique<go_ahead>(), back = std::make_unique<go_ahead>();
  run.thread("resumer", [&] {
    word = 1;
    there->give();
    back->take();
    back.reset();
    require(word == 2);
  });
  run.thread("fiber", [&] {
    there->take();
    there.reset();
    require(word == 1);
    word = 2;
    back->give();
  });
  run.join();
}

}  // namespace

TEST_CASE("a go_ahead carries what was written before it, and may be gone before its giver has woken anybody") {
  verdict::none(bounds, &a_round_trip);
}

TEST_CASE("both orderings of a go_ahead are needed") {
  CHECK(hocket::model::unneeded_orderings(bounds, &a_round_trip) == "");
}
