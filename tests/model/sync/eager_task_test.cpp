// The word of an eager task (coro/eager_task.hpp) under every schedule: the body ends as its owner begins to wait.
#include <hocket/coro/eager_task.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::detail::eager_state;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::place;
using ::verdict::unneeded_in;
namespace model = hocket::model;

// Frame and result, which the owner frees.
struct body_frame : hocket::detail::coroutine_header {
  body_frame() { ctx = &hocket::context::root(); }
  eager_state state;
  var<int> result{0, "result"};
};

void ends_and_awaited(execution& run) {
  kept<body_frame> frame;
  place where;
  run.thread("body", [&] {
    frame->result = 7;
    frame->state.end(*frame);
  });
  run.thread("owner", [&] {
    where.enter();
    bool suspended = false;
    if (!frame->state.ended()) {
      suspended = frame->state.wait(*frame, {});
      if (suspended) where.sleep();
      else where.expect_no_post();
    }
    require(frame->result == 7);
    if (suspended) frame->state.woken();
    where.expect_sane();
    frame.free();
  });
  run.join();
}

// In its first run: the task is moved to another thread only afterwards.
void ends_in_its_first_run(execution& run) {
  kept<body_frame> frame;
  model::atomic<int> moved{0, "moved"};
  run.thread("caller", [&] {
    hocket::detail::this_thread().eager = &frame->state;
    frame->result = 7;
    frame->state.end(*frame);
    hocket::detail::this_thread().eager = nullptr;
    moved.store(1, std::memory_order_relaxed);
  });
  run.thread("owner", [&] {
    if (moved.load(std::memory_order_relaxed) == 0 || !frame->state.ended()) return;
    require(frame->result == 7);
  });
  run.join();
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 1};

}  // namespace

TEST_CASE("the owner of an eager task is woken once, or does not sleep, and has the result") {
  ::verdict::none(bounds, ends_and_awaited);
}

TEST_CASE("an eager task that has ended at once shows its result to whoever gets it") {
  ::verdict::none(bounds, ends_in_its_first_run);
}

TEST_CASE("every ordering of an eager task is needed") {
  auto unneeded = model::unneeded_orderings(bounds, ends_and_awaited, ends_in_its_first_run);
  CHECK(unneeded_in("eager_task", unneeded) == "");
  CHECK(unneeded_in("eager_promise", unneeded) == "");
}
