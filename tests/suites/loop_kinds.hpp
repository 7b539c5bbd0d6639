// Tasks and fibers on a loop with a manual clock: two kinds for the suites (world.hpp).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/runtime/loop.hpp>

#include "suites/started.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace hocket_test {

// The shared part of both: a loop and the handles of the started coroutines.
class on_a_loop {
 public:
  using strength = hocket::strength::shared;

  // The budget of operations begins anew (core/wait/seam/budget.hpp): no test depends on earlier ones.
  explicit on_a_loop(const hocket::loop_options& options = {}) : lp_(with_clock(options)) {
    hocket::detail::refill_budget(hocket::detail::this_thread());
  }
  on_a_loop(const on_a_loop&) = delete;
  on_a_loop& operator=(const on_a_loop&) = delete;
  ~on_a_loop() {
    for (auto& one : all_) one->handle.kill();
    settle();
    for (auto& one : all_) CHECK(one->done());
    CHECK(lp_.live() == 0);
  }
  void settle() {
    while (lp_.step()) after_step_();
  }
  // Ends the loop with its remaining coroutines.
  void end() { std::destroy_at(&lp_); }
  void cancel(int id) { at(id).handle.cancel(); }
  void kill(int id) { at(id).handle.kill(); }
  void pass(hocket::duration time) {
    clock_.advance(time);
    settle();
  }
  hocket::time_point now() const { return clock_.now(); }
  fate ended(int id) { return at(id).ended(); }

 protected:
  template <class Body, class Run>
  int add(Run run, std::unique_ptr<started_body<Body>> one) {
    one->handle = hocket::spawn(lp_, options_, run, one.get());
    all_.push_back(std::move(one));
    return static_cast<int>(all_.size()) - 1;
  }
  hocket::loop_options with_clock(hocket::loop_options options) const {
    options.clock = &clock_;
    return options;
  }
  started& at(int id) { return *all_[static_cast<std::size_t>(id)]; }

  hocket::manual_clock clock_{hocket::time_point(std::chrono::hours(1))};
  hocket::loop lp_;
  hocket::spawn_options options_{};
  void (*after_step_)() = [] {};
  std::vector<std::unique_ptr<started>> all_;
};

using loop_tasks = of_tasks<on_a_loop>;
using loop_fibers = of_fibers<on_a_loop>;

// Fibers that are packed whenever they wait.
class packed_fibers : public loop_fibers {
 public:
  explicit packed_fibers(const hocket::loop_options& options = {}) : loop_fibers(options) {
    options_.hibernate_after = std::chrono::hours(1000);
    after_step_ = [] { hocket::hibernate_parked(); };
  }
};

// Fibers that all share one stack.
class copied_fibers : public loop_fibers {
 public:
  using shares_its_stack = void;

  explicit copied_fibers(const hocket::loop_options& options = {}) : loop_fibers(options) {
    options_.stack = hocket::stack_kind::copied;
  }
};

}  // namespace hocket_test
