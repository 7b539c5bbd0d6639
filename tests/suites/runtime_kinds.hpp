// Tasks, fibers that stay and fibers that move, on a runtime with a manual clock: kinds for the
// suites (world.hpp). The environment sets the number of workers: HOCKET_TEST_WORKERS, 4 if it is not set.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/runtime/runtime.hpp>

#include "suites/started.hpp"
#include "support/runtime_look.hpp"

#include <cstdlib>
#include <deque>
#include <doctest/doctest.h>
#include <functional>
#include <mutex>
#include <vector>

namespace hocket_test {

inline std::size_t chosen_workers() {
  const char* given = std::getenv("HOCKET_TEST_WORKERS");
  return given ? static_cast<std::size_t>(std::strtoul(given, nullptr, 10)) : 4;
}

class on_a_runtime {
 public:
  using strength = hocket::strength::shared;
  using runs_side_by_side = void;

  explicit on_a_runtime(bool migratable = false)
      : migratable_(migratable), rt_({.workers = chosen_workers(), .clock = &clock_}) {}
  on_a_runtime(const on_a_runtime&) = delete;
  on_a_runtime& operator=(const on_a_runtime&) = delete;
  ~on_a_runtime() {
    settle();
    for (auto& one : all_) one->handle.kill();
    settle();
    for (auto& one : all_) CHECK(one->done());
    CHECK(rt_.live() == 0);
  }
  void settle() {
    hocket::detail::runtime_look::wait_until_asleep(rt_);
    while (auto next = next_to_do()) {
      next();
      hocket::detail::runtime_look::wait_until_asleep(rt_);
    }
  }
  // Any thread. What has not begun is stopped as soon as it has.
  void cancel(int id) { stop(id, &hocket::join_handle<>::cancel); }
  void kill(int id) { stop(id, &hocket::join_handle<>::kill); }
  void pass(hocket::duration time) {
    clock_.advance(time);
    rt_.clock_moved();
    settle();
  }
  hocket::time_point now() const { return clock_.now(); }
  fate ended(int id) { return at(id).ended(); }

 protected:
  template <class Body, class Run>
  int add(Run run, std::unique_ptr<started_body<Body>> one) {
    std::lock_guard guard(mutex_);
    to_do_.push_back([this, run, self = one.get()] {
      auto handle = hocket::spawn(rt_, hocket::spawn_options{.migratable = migratable_}, run, self);
      std::lock_guard begun(mutex_);
      self->handle = std::move(handle);
    });
    all_.push_back(std::move(one));
    return static_cast<int>(all_.size()) - 1;
  }

 private:
  using stopping = void (hocket::join_handle<>::*)() const noexcept;

  std::function<void()> next_to_do() {
    std::lock_guard guard(mutex_);
    if (to_do_.empty()) return nullptr;
    auto next = std::move(to_do_.front());
    to_do_.pop_front();
    return next;
  }
  void stop(int id, stopping how) {
    std::lock_guard guard(mutex_);
    hocket::join_handle<>& handle = all_[static_cast<std::size_t>(id)]->handle;
    if (handle) (handle.*how)();
    else to_do_.push_back([&handle, how] { (handle.*how)(); });
  }
  started& at(int id) {
    std::lock_guard guard(mutex_);
    return *all_[static_cast<std::size_t>(id)];
  }

  const bool migratable_;
  hocket::manual_clock clock_{hocket::time_point(std::chrono::hours(1))};
  hocket::runtime rt_;
  std::mutex mutex_;
  std::deque<std::function<void()>> to_do_;
  std::vector<std::unique_ptr<started>> all_;
};

class migratable_on_a_runtime : public on_a_runtime {
 public:
  migratable_on_a_runtime() : on_a_runtime(true) {}
};

using runtime_tasks = of_tasks<on_a_runtime>;
using runtime_fibers = of_fibers<on_a_runtime>;
using runtime_migrants = of_fibers<migratable_on_a_runtime>;

}  // namespace hocket_test
