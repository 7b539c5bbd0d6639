// Runs a task on a loop to its end. The task makes the checks.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>

namespace hocket_test {

template <class F>
void on_loop(F body) {
  hocket::loop lp;
  auto only = hocket::spawn(lp, body);
  lp.run();
  hocket::sync_wait(only);
}

}  // namespace hocket_test
