// One wait for the model's tests: a home that is posted to, an alarm that rings when it is told to, a source that
// watches.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

#include "core/kept.hpp"
#include "unit/core/permit_source.hpp"
#include "verdict.hpp"

namespace hocket_test {

using hocket::context;
using hocket::executor;
using hocket::stop_source;
using hocket::detail::runnable;
using hocket::detail::timer_node;
using hocket::detail::timer_service;
using hocket::detail::wait_end;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;
using hocket::primitive::locked;
using hocket::primitive::suspension;
using hocket::primitive::waiter;

// One alarm, which fires when ring() is called, and notices a detach that is not ordered after the registration.
class one_alarm final : public timer_service {
 public:
  hocket::time_point now() const noexcept override { return {}; }
  void attach(timer_node& node) noexcept override {
    {
      locked guard(mutex_);
      node_ = &node;
    }
    registration_ = 1;
  }
  bool detach(timer_node& node) noexcept override {
    require(registration_ == 1);
    locked guard(mutex_);
    return std::exchange(node_, nullptr) == &node;
  }
  void ring() {
    timer_node* due = nullptr;
    {
      locked guard(mutex_);
      due = std::exchange(node_, nullptr);
    }
    if (due) due->fire(hocket::detail::timer_call::due);
  }

 private:
  hocket::primitive::thread_mutex mutex_;
  timer_node* node_ = nullptr;
  var<int> registration_{0, "registration of the alarm"};
};

// The home of one coroutine: it is posted at most once per wait, and sleep() is what it does in between.
class one_home final : public executor {
 public:
  explicit one_home(timer_service* timers = nullptr) noexcept : timers_(timers) {}
  void post_from_outside(runnable&) noexcept override {
    // A plain store would hide a second post.
    if (posted_.fetch_add(1, std::memory_order_release) != 0) twice_ = true;
    hocket::detail::futex_wake_one(posted_);
  }
  timer_service* timers() noexcept override { return timers_; }
  void sleep() {
    while (posted_.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(posted_, 0);
  }
  bool posted() const { return posted_.load(std::memory_order_relaxed) != 0; }
  bool twice() const noexcept { return twice_; }

 private:
  timer_service* const timers_;
  bool twice_ = false;
  atomic<std::uint32_t> posted_{0, "posted"};
};

// A source that notices a detach which is not ordered after the registration.
struct watchful_source : permit_source {
  using permit_source::permit_source;
  var<int> registration{0, "registration"};
  bool take_or_list(suspension& wait, waiter& entry) noexcept override {
    bool taken = permit_source::take_or_list(wait, entry);
    registration = 1;
    return taken;
  }
  bool detach(waiter& entry) noexcept override {
    require(registration == 1);
    return permit_source::detach(entry);
  }
};

struct awaiter {
  suspension wait;
  waiter entry;
};

inline hocket::context_options under(stop_source* stop, bool deadline) {
  hocket::context_options options;
  options.stop = stop;
  if (deadline) options.deadline = hocket::time_point{};
  return options;
}

// Waits once for a permit, as acquisition does for a coroutine; frees the awaiter as soon as it may.
template <class Source>
wait_end wait_once(Source& source, one_home& home, context& ctx) {
  kept<awaiter> self;
  hocket::detail::this_thread().binding.running_on = &home;
  hocket::detail::this_thread().ctx = &ctx;
  self->wait.arm({});
  source.take_or_list(self->wait, self->entry);
  if (self->wait.commit()) home.sleep();
  else require(!home.posted(), "posted, and gone straight on");
  wait_end got = self->wait.finish();
  self.free();
  return got;
}

template <class Source>
struct whole_wait {
  one_alarm alarm;
  stop_source stop;
  one_home home{&alarm};
  hocket::context_ptr ctx;
  Source source;
  wait_end got = wait_end::none;

  explicit whole_wait(bool deadline) : ctx(context::child_of(context::root(), under(&stop, deadline))) {}
  void start(execution& run) {
    run.thread("waits", [this] { got = wait_once(source, home, *ctx); });
  }
  void check() {
    require(!home.twice(), "posted twice");
    require(source.free() == (got == wait_end::granted ? 0 : 1), "a permit was lost, or made");
    require(!source.has_waiters());
    require(got == wait_end::granted || got == wait_end::killed || got == wait_end::timed_out);
  }
};

}  // namespace hocket_test
