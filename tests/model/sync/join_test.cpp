// The join word of a scheduled coroutine (core/spawn/seam/scheduled.hpp) under every schedule: the end meets a join
// that is cancelled, and a handle that is dropped. The result is received once, an exception by the handle or by
// on_unhandled.
#include <hocket/core/join_handle.hpp>

#include "sync/waits.hpp"

#include <stdexcept>

namespace {

using hocket::join_handle;
using hocket::stop_source;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::kept;
using hocket_test::place;
using hocket_test::wait_at;
using ::verdict::unneeded_in;
namespace model = hocket::model;

int unhandled = 0;
int disposed = 0;
var<int>* cause = nullptr;  // of the exception

struct one_target final : hocket::spawn_target {
  struct nowhere final : hocket::executor {
    void post_from_outside(hocket::detail::runnable&) noexcept override {}
  };
  hocket::executor& home() noexcept override { return home_; }
  hocket::context& parent_context() noexcept override { return hocket::context::root(); }
  std::error_code enroll(std::size_t) noexcept override { return {}; }
  void leave() noexcept override {}
  hocket::unhandled_handler on_unhandled() const noexcept override {
    return [](std::exception_ptr, const hocket::context&) noexcept {
      ++unhandled;
      require(!cause || *cause == 1);
    };
  }

 private:
  nowhere home_;
};

// What spawn allocates, ended by hand.
class one_spawned final : public hocket::detail::scheduled_result<int> {
 public:
  explicit one_spawned(one_target& on)
      : hocket::detail::scheduled_result<int>(on, hocket::detail::coroutine_kind::task, {.location = {}},
                                              [](hocket::context& self) noexcept {
                                                ++disposed;
                                                static_cast<one_spawned&>(self).own_->free();
                                              }) {
    require(enroll());
    launch({});
  }
  // Its memory.
  void lies_in(kept<one_spawned>& own) noexcept { own_ = &own; }

  void end_with(int value) {
    store_result([value] { return value; });
    succeed();
    finish();
  }
  void end_by_exception() {
    try {
      throw std::runtime_error("as told");
    } catch (...) {
      fail();
    }
    finish();
  }

 private:
  kept<one_spawned>* own_ = nullptr;
};

// A spawned coroutine with its handle.
struct stage {
  one_target target;
  kept<one_spawned> coroutine{target};
  kept<join_handle<int>> handle{*coroutine};

  stage() {
    coroutine->lies_in(coroutine);
    unhandled = disposed = 0;
    cause = nullptr;
  }
};

void joined(execution& run) {
  stage on;
  place where;
  var<int> work{0, "work"};
  run.thread("ends", [&] {
    work = 1;
    on.coroutine->end_with(7);
  });
  run.thread("joins", [&] {
    auto got = wait_at(where, on.handle->join());
    require(got.has_value() && *got == 7 && work == 1);
    on.handle.free();
  });
  run.join();
  require(disposed == 1);
}

// A join that is cancelled leaves the handle as it was.
void cancelled_and_joined_again(execution& run) {
  stage on;
  kept<stop_source> stop;
  place mortal(&*stop), patient;
  run.thread("ends", [&] { on.coroutine->end_with(7); });
  run.thread("joins", [&] {
    auto got = wait_at(mortal, on.handle->join());
    if (!got) got = wait_at(patient, on.handle->join());
    require(got.has_value() && *got == 7);
    on.handle.free();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
  require(disposed == 1);
}

// Nobody but the stop ends the wait: the coroutine goes on.
void cancelled_alone(execution& run) {
  stage on;
  kept<stop_source> stop;
  place mortal(&*stop);
  run.thread("joins", [&] { require(!wait_at(mortal, on.handle->join()).has_value()); });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
  on.coroutine->end_with(7);
  on.handle.free();
  require(disposed == 1);
}

void dropped(execution& run) {
  stage on;
  var<int> work{0, "work"};
  cause = &work;
  run.thread("ends", [&] {
    work = 1;
    on.coroutine->end_by_exception();
  });
  run.thread("drops", [&] { on.handle.free(); });
  run.join();
  require(unhandled == 1, "an exception was lost, or told twice");
  require(disposed == 1);
}

// Waits for a while, and gives the handle up if that was too short.
void cancelled_and_dropped(execution& run) {
  stage on;
  kept<stop_source> stop;
  place mortal(&*stop);
  int received = 0;
  run.thread("ends", [&] { on.coroutine->end_by_exception(); });
  run.thread("joins", [&] {
    try {
      (void)wait_at(mortal, on.handle->join());
    } catch (const std::runtime_error&) {
      ++received;
    }
    on.handle.free();
  });
  run.thread("cancels", [&] { stop->request(); });
  run.join();
  stop.free();
  require(received + unhandled == 1, "an exception was lost, or told twice");
  require(disposed == 1);
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a join gives the result, and shows what the coroutine did") { ::verdict::none(bounds, joined); }

TEST_CASE("a join that is cancelled as the coroutine ends can be repeated") {
  ::verdict::none(bounds, cancelled_and_joined_again);
}

TEST_CASE("a join that is cancelled ends, although the coroutine does not") {
  ::verdict::none(bounds, cancelled_alone);
}

TEST_CASE("an exception of a coroutine whose handle is dropped is told once") { ::verdict::none(bounds, dropped); }

TEST_CASE("an exception is received, or told, once, though the join is cancelled and the handle dropped") {
  ::verdict::none(bounds, cancelled_and_dropped);
}

TEST_CASE("every ordering of the join word is needed") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, joined, dropped);
  CHECK(unneeded_in("scheduled.cpp", unneeded) == "");
}
