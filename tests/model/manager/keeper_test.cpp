// The keeper of a task manager and the count of what lives in it, under every schedule: whatever is live and has a
// deadline is known to the keeper; when nothing is live it rests and has given everything back; and the inside is freed
// once, by whoever comes last.
#include <manager/manager_core.hpp>

#include "sync/waits.hpp"
#include "verdict.hpp"

namespace {

using hocket::model::execution;
using hocket::model::require;
using hocket_test::kept;
using hocket_test::mistake;
using hocket_test::small_loop;
using ::verdict::unneeded_in;
namespace model = hocket::model;

struct stage {
  using core = hocket::detail::manager_core;
  static constexpr std::int64_t early = 10, late = 20;

  kept<small_loop> loop;
  kept<core> inside;
  int freed = 0;

  explicit stage(mistake wrong) : inside(*loop, wrong, &free, this) {}
  static void free(void* of) {
    auto& self = *static_cast<stage*>(of);
    ++self.freed;
    self.inside.free();
  }
  core& tm() noexcept { return *inside; }
  void poll(int times) {
    hocket::running_scope here({&*loop}, nullptr);
    while (times-- > 0) loop->poll();
  }

  // When the threads are done: the keeper has the deadline of what is still there, and nothing else.
  void expect_kept(std::int64_t deadline) {
    hocket::running_scope here({&*loop}, nullptr);
    while (loop->poll()) continue;
    require(loop->enrolled.load(std::memory_order_acquire) == 1, "the keeper rests over a deadline");
    require(loop->wheel.next_expiry().time_since_epoch().count() <= deadline, "the keeper comes too late");
  }
  void expect_rest() {
    hocket::running_scope here({&*loop}, nullptr);
    while (loop->poll()) continue;
    require(loop->enrolled.load(std::memory_order_acquire) == 0, "the keeper has work though nothing is live");
    require(loop->wheel.empty());
  }
  void end() {
    expect_rest();
    if (freed == 0) tm().let_go();
    require(freed == 1, "freed more than once, or never");
    loop.free();
  }
  void begin_at_home(std::size_t place, std::int64_t when) {
    hocket::running_scope here({&*loop}, nullptr);
    tm().begin(place, when);
  }
};

// One deadline is set as another ends, beside a turn of the keeper, which was posted.
template <std::int64_t Second, mistake Wrong = mistake::none>
void beside_turn(execution& run) {
  stage t(Wrong);
  t.tm().begin(0, stage::early);
  run.thread("loop", [&] { t.poll(1); });
  run.thread("ends", [&] { t.tm().end(0); });
  run.thread("begins", [&] { t.tm().begin(1, Second); });
  run.join();
  t.expect_kept(Second);
  t.tm().end(1);
  t.end();
}

// The same while it is armed.
template <std::int64_t Second, bool AtHome, mistake Wrong = mistake::none>
void beside_rest(execution& run) {
  stage t(Wrong);
  t.begin_at_home(0, stage::early);
  run.thread("loop", [&] {
    hocket::running_scope here({&*t.loop}, nullptr);
    if (AtHome) t.tm().end(0);
    t.loop->poll();
  });
  if (!AtHome) run.thread("ends", [&] { t.tm().end(0); });
  run.thread("begins", [&] { t.tm().begin(1, Second); });
  run.join();
  t.expect_kept(Second);
  t.tm().end(1);
  t.end();
}

// The deadline is set of what ends.
template <bool Turns>
void of_what_ends(execution& run) {
  stage t(mistake::none);
  t.tm().begin(0, Turns ? stage::late : hocket::detail::manager_core::never);
  run.thread("sets", [&] { t.tm().set_deadline(0, stage::early); });
  run.thread("ends", [&] { t.tm().end(0); });
  if (Turns) run.thread("loop", [&] { t.poll(1); });
  run.join();
  t.end();
}

// The manager ends, and so does what was left in it, while the keeper was posted, or is armed.
template <bool Armed, mistake Wrong = mistake::none>
void freed_by_the_last(execution& run) {
  stage t(Wrong);
  if (Armed) t.begin_at_home(0, stage::early);
  else t.tm().begin(0, stage::early);
  run.thread("manager", [&] { t.tm().let_go(); });
  run.thread("ends", [&] { t.tm().end(0); });
  run.thread("loop", [&] { t.poll(2); });
  run.join();
  t.end();
}

// Two end, and the last of them sees what both did.
void two_end(execution& run) {
  stage t(mistake::none);
  for (std::size_t place : {0u, 1u}) t.begin_at_home(place, hocket::detail::manager_core::never);
  for (std::size_t place : {0u, 1u}) run.thread("ends", [&t, place] { t.tm().end(place); });
  run.join();
  t.end();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a deadline that is set beside a turn of the keeper is kept") {
  ::verdict::none(bounds, beside_turn<stage::late>);
  ::verdict::none(bounds, beside_turn<stage::early - 1>);
}

TEST_CASE("a deadline that is set as the keeper comes to rest is kept") {
  ::verdict::none(bounds, beside_rest<stage::late, false>);
  ::verdict::none(bounds, beside_rest<stage::late, true>);
  ::verdict::none(bounds, beside_rest<stage::early - 1, false>);
}

TEST_CASE("a keeper does not stay for the deadline of what has ended") {
  ::verdict::none(bounds, of_what_ends<false>);
  ::verdict::none(bounds, of_what_ends<true>);
}

TEST_CASE("the inside is freed once, by the last") {
  ::verdict::none(bounds, freed_by_the_last<true>);
  ::verdict::none(bounds, freed_by_the_last<false>);
  ::verdict::none(bounds, two_end);
}

TEST_CASE("a keeper that looks before it has said that it rests loses a deadline, and so does who is counted late") {
  for (auto& result : {model::explore(bounds, beside_turn<stage::late, mistake::looks_too_early>),
                       model::explore(bounds, beside_rest<stage::late, false, mistake::comes_too_late>)}) {
    INFO(result.text());
    CHECK(result.found());
  }
}

TEST_CASE("the last one that gives up its share before it has the keeper rest uses freed memory") {
  auto result = model::explore(bounds, freed_by_the_last<false, mistake::goes_before_the_keeper>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("no ordering of the keeper and of the count could be weaker") {
  const auto unneeded =
      model::unneeded_orderings(bounds, beside_rest<stage::late, true>, two_end, freed_by_the_last<false>);
  CHECK(unneeded_in("keeper.cpp", unneeded) == "");
  CHECK(unneeded_in("life_count.hpp", unneeded) == "");
}
