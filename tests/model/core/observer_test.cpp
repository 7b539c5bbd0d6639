// Observers under every schedule: one that is removed is called no more, and knows what was done before its
// installation; its removal ends.
//
// Not here: the second seat. Seats are never freed, and an execution would leave each of them behind.
#include <hocket/core/wait/detail/observed.hpp>

#include "core/kept.hpp"
#include "verdict.hpp"

#include <algorithm>

namespace {

using hocket::coroutine_id;
using hocket::install_observer;
using hocket::observer;
using hocket::remove_observer;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
namespace detail = hocket::detail;
namespace model = hocket::model;

// What it does in a callback conflicts with its construction, and with whatever its owner does after the removal.
struct counting final : observer {
  void on_wake(coroutine_id) noexcept override { calls = calls + 1; }
  var<int> calls{0, "calls"};
};

void event() {
  if (detail::observed()) detail::notify_woken(coroutine_id());
}

void destroyed_beside_an_event(execution& run) {
  kept<counting> one;
  run.thread("event", &event);
  run.thread("owner", [&] {
    one->calls = 0;
    install_observer(*one);
    remove_observer(*one);
    require(one->calls <= 1);
    one->calls = 7;
    one.free();
  });
  run.join();
  require(!detail::observed());
}

// An event may still be on its way out of the seat that the second observer takes.
void followed_by_another(execution& run) {
  kept<counting> first, second;
  install_observer(*first);
  run.thread("event", &event);
  run.thread("owner", [&] {
    remove_observer(*first);
    first.free();
    install_observer(*second);
    remove_observer(*second);
    second.free();
  });
  run.join();
  require(!detail::observed());
}

// Two removals at once, of the observer itself by its callback, and of the next one by its owner.
void removed_by_its_callback(execution& run) {
  struct leaves final : observer {
    void on_wake(coroutine_id) noexcept override { remove_observer(*this); }
  };
  kept<leaves> one;
  kept<counting> next;
  install_observer(*one);
  run.thread("event", [&] {
    event();
    one.free();
  });
  run.join();
  run.thread("event", &event);
  run.thread("owner", [&] {
    install_observer(*next);
    remove_observer(*next);
    next.free();
  });
  run.join();
  require(!detail::observed());
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};

}  // namespace

TEST_SUITE_BEGIN("model/core/observer");

TEST_CASE("an observer is destroyed after its removal, beside an event") {
  verdict::none(bounds, &destroyed_beside_an_event);
}

TEST_CASE("a removal ends although the next observer is told of events") {
  verdict::none(bounds, &followed_by_another);
}

TEST_CASE("a callback removes its own observer") { verdict::none(bounds, &removed_by_its_callback); }

// Two are not seen to be. The load that finds a second seat finds none here. And the count that falls at the end of a
// visit: the checker's futex_wait() always sees its newest value, and its seq_cst loads all that was stored before.
TEST_CASE("every ordering of the observers is needed, but for two") {
  constexpr model::options few{.preemptions = 2, .stale_reads = 1, .spurious = 0, .weakened = "observed."};
  const std::string unneeded = model::unneeded_orderings(few, &destroyed_beside_an_event, &followed_by_another);
  CAPTURE(unneeded);
  CHECK(std::count(unneeded.begin(), unneeded.end(), '\n') == 2);
}

TEST_SUITE_END();
