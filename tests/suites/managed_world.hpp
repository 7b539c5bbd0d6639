// Where task managers are tested: a loop with a clock of the test's own, and what becomes of a body.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/manager/task_manager.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

namespace hocket_test {

using namespace hocket;
using namespace std::chrono_literals;

// What became of a body.
struct trace {
  event gate;
  std::error_code error;
  int begun = 0, returned = 0, gone = 0;
  int reply = 0;
  outcome_kind how = outcome_kind::none;
  managed_handle<> child;
};

struct leaving {
  explicit leaving(trace& of) noexcept : t(of) { ++t.begun; }
  ~leaving() { ++t.gone; }
  trace& t;
};

struct managed_world {
  manual_clock time;
  loop lp{{.clock = &time}};
  trace t;  // declared before the manager, which may use it as it ends
  void run() {
    while (lp.poll()) continue;
  }
  void pass(duration by) {
    time.advance(by);
    run();
  }
};

}  // namespace hocket_test
