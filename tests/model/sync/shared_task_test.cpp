// A shared task (coro/shared_task.hpp) under every schedule: two come first at once, a wait is cancelled as the body
// ends, handles are dropped meanwhile. The body is launched once, everybody gets the value, the frame is freed once.
#include <hocket/coro/shared_task.hpp>

#include "sync/waits.hpp"

namespace {

using hocket::stop_source;
using hocket::detail::shared_state;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::wait_at;
using ::verdict::unneeded_in;
namespace model = hocket::model;

// A frame made by hand: what is queued is ended by the thread that plays its executor.
struct hand_frame : hocket::detail::frame_head, hocket::detail::coroutine_header {
  hand_frame() noexcept : hocket::detail::frame_head{&none, &destroyed} {}
  static void none(void*) {}
  static void destroyed(void* frame) {
    auto& self = *static_cast<hand_frame*>(static_cast<hocket::detail::frame_head*>(frame));
    ++self.freed;
    self.value = 0;
    self.state.free();
  }
  std::coroutine_handle<> handle() noexcept { return hocket::detail::handle_of(*this); }

  var<int> value{0, "value"};
  int freed = 0;
  kept<shared_state> state{*this, handle()};
};

// The executor of the body: the first posted coroutine is the body.
class stage_executor final : public hocket::executor {
 public:
  void post_from_outside(hocket::detail::runnable&) noexcept override {
    ++launches;
    posted_.store(1, std::memory_order_release);
    hocket::detail::futex_wake_one(posted_);
  }
  void wait_for_body() {
    while (posted_.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(posted_, 0);
  }
  int launches = 0;

 private:
  hocket::primitive::atomic<std::uint32_t> posted_{0, "posted"};
};

// The wait of a handle, as shared_task has it.
class hand_wait {
 public:
  using value_type = int;
  explicit hand_wait(hand_frame& of) noexcept : of_(&of) {}
  bool try_now() noexcept { return of_->state->try_now(); }
  void begin(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept {
    of_->state->begin(wait, entry);
  }
  hocket::result<int> take() {
    if (std::error_code error = of_->state->check()) return hocket::failure(error);
    return static_cast<int>(of_->value);
  }

 private:
  hand_frame* of_;
};

struct stage {
  hand_frame frame;
  stage_executor on;

  hocket::primitive::operation<hand_wait> wait() { return hocket::primitive::operation<hand_wait>(hand_wait(frame)); }
  // What the body does from its first resume to its end.
  void body() {
    on.wait_for_body();
    hocket::detail::this_thread().binding.running_on = &on;
    frame.state->enter();
    frame.value = 7;
    frame.state->succeed();
    frame.state->finish();
  }
  void expect_freed() const {
    require(on.launches == 1, "launched twice, or never");
    require(frame.freed == 1, "the frame was freed twice, or never");
  }
};

void start_and_wait(stage& at, place& where) {
  at.frame.state->start(at.on);
  auto got = wait_at(where, at.wait());
  require(got.has_value() && *got == 7);
  at.frame.state->drop();
}

void two_come_first(execution& run) {
  stage at;
  place one, other;
  at.frame.state->retain();
  run.thread("body", [&] { at.body(); });
  run.thread("one", [&] { start_and_wait(at, one); });
  run.thread("other", [&] { start_and_wait(at, other); });
  run.join();
  at.expect_freed();
}

void waited_for(execution& run) {
  stage at;
  place one;
  run.thread("body", [&] { at.body(); });
  run.thread("one", [&] { start_and_wait(at, one); });
  run.join();
  at.expect_freed();
}

// Never started: the last handle frees the frame, after all that was done by the other.
void dropped_unawaited(execution& run) {
  stage at;
  at.frame.state->retain();
  run.thread("one", [&] {
    at.frame.value = 1;
    at.frame.state->drop();
  });
  run.thread("other", [&] { at.frame.state->drop(); });
  run.join();
  require(at.frame.freed == 1 && at.on.launches == 0);
}

// The thread that runs a body leaves when all coroutines that the body spawned have left.
void all_leave(execution& run) {
  struct told final : hocket::executor {
    void post_from_outside(hocket::detail::runnable&) noexcept override { require(one == 1 && other == 1); }
    var<int> one{0, "one"}, other{0, "other"};
  } here;
  hocket::detail::lone_target target(here);
  target.signal_at_end();
  for (int i = 0; i < 2; ++i) require(!target.enroll(1));
  run.thread("one", [&] {
    here.one = 1;
    target.leave();
  });
  run.thread("other", [&] {
    here.other = 1;
    target.leave();
  });
  run.join();
}

// A wait that is cancelled as the body ends; then the handle is dropped, while the body may still run.
void cancelled_and_dropped(execution& run) {
  stage at;
  kept<stop_source> stop;
  place mortal(&*stop);
  run.thread("body", [&] { at.body(); });
  run.thread("waits", [&] {
    at.frame.state->start(at.on);
    auto got = wait_at(mortal, at.wait());
    require(!got || *got == 7);
    at.frame.state->drop();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
  at.expect_freed();
}

// The weakened variant: looks before it enters the line, not again under the mutex.
void looked_once(execution& run) {
  model::atomic<int> over{0, "over"}, line{0, "line"}, woken{0, "woken"};
  run.thread("body", [&] {
    over.store(1);
    if (line.exchange(0) == 1) woken.store(1);
  });
  run.thread("waits", [&] {
    if (over.load() == 1) return;
    line.store(1);
    while (woken.load() == 0) model::pause();
  });
  run.join();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("two start a shared task at once: it runs once, and both get its value") {
  ::verdict::none(bounds, two_come_first);
}

TEST_CASE("a wait for a shared task is cancelled as that ends, and the last handle dropped") {
  ::verdict::none(bounds, cancelled_and_dropped);
}

TEST_CASE("a waiter that does not look again under the mutex may sleep for ever") {
  CHECK(model::explore(bounds, looked_once).found());
}

TEST_CASE("every ordering of a shared task is needed") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, waited_for,
                                            dropped_unawaited, all_leave);
  CHECK(unneeded_in("shared_task.cpp", unneeded) == "");
}
