// The inside of a task manager as its keeper and its count see it, under the model checker: this file is found before
// the one of src/manager. A table of two places, a loop that runs when the test has it run, and no time: what matters
// is whether the keeper knows the first deadline, and whether everybody lets go.
#pragma once
#include <hocket/core/current.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/model/model.hpp>
#include <hocket/time/timer_wheel.hpp>
#include <manager/keeper.hpp>
#include <manager/life_count.hpp>

#include "core/kept.hpp"

#include <algorithm>
#include <array>
#include <exception>

namespace hocket_test {

// The loop below: an executor, its timers and its count of what is enrolled.
class small_loop final : public hocket::executor, public hocket::spawn_target, public hocket::timer_waker {
 public:
  // executor
  void post(hocket::runnable& work) noexcept override {
    work_ = &work;
    inbox_.fetch_or(posted, std::memory_order_release);
  }
  hocket::timer_service* timers() noexcept override { return &wheel; }
  // timer_waker
  void wake() noexcept override {
    reminder_ = 1;  // as the push to an inbox writes it
    inbox_.fetch_or(reminded, std::memory_order_release);
  }
  // spawn_target
  hocket::executor& home() noexcept override { return *this; }
  hocket::context& surroundings() noexcept override { std::terminate(); }
  std::error_code enroll(std::size_t) noexcept override { return {}; }
  std::error_code enroll_children(std::size_t count) noexcept override {
    enrolled.fetch_add(static_cast<int>(count), std::memory_order_relaxed);
    return {};
  }
  void leave() noexcept override { enrolled.fetch_sub(1, std::memory_order_release); }
  hocket::unhandled_handler on_unhandled() const noexcept override { return nullptr; }

  // On its thread: what has come. False: nothing.
  bool poll() {
    const std::uint32_t what = inbox_.exchange(0, std::memory_order_acquire);
    if (what & reminded) {
      hocket::model::require(reminder_ == 1, "reminded twice");
      reminder_ = 0;
      wheel.reclaim();
    }
    if (what & posted) {
      hocket::runnable* work = work_;
      work->handle.resume();
    }
    return what != 0;
  }

  struct still final : hocket::clock {
    hocket::time_point now() const noexcept override { return {}; }
  } time;
  hocket::timer_wheel wheel{time, *this, *this};
  hocket::atomic<int> enrolled{0, "enrolled"};

 private:
  static constexpr std::uint32_t posted = 1, reminded = 2;
  hocket::atomic<std::uint32_t> inbox_{0, "inbox"};
  hocket::model::var<hocket::runnable*> work_{nullptr, "work"};
  hocket::model::var<int> reminder_{0, "reminder"};
};

enum class mistake { none, looks_too_early, comes_too_late, goes_before_the_keeper };

}  // namespace hocket_test

namespace hocket::inline HOCKET_ABI::detail {

class manager_core {
 public:
  using time_points = std::array<model::var<std::int64_t>, 2>;
  static constexpr std::int64_t not_there = -1, never = time_point::max().time_since_epoch().count();

  manager_core(hocket_test::small_loop& below, hocket_test::mistake wrong, void (*free)(void*), void* of)
      : loop_(below), wrong_(wrong), free_(free), of_(of) {}

  // --- for the keeper
  executor& home() noexcept { return loop_; }
  spawn_target& on() noexcept { return loop_; }
  void hold() noexcept { lives_.hold(); }
  void let_go() noexcept {
    if (lives_.let_go()) free_(of_);
  }
  std::size_t live() const noexcept { return looked_ ? std::exchange(looked_, 0) - 1 : lives_.live(); }
  time_point expire() noexcept {
    const locked guard(mutex_);
    std::int64_t first = never;
    for (auto& when : places_)
      if (when != not_there) first = std::min<std::int64_t>(first, when);
    if (wrong_ == hocket_test::mistake::looks_too_early) looked_ = lives_.live() + 1;
    return time_point(duration(first));
  }

  // --- what is done to a manager
  void begin(std::size_t place, std::int64_t when) {
    const bool late = wrong_ == hocket_test::mistake::comes_too_late;
    if (!late) count();
    put(place, when);
    if (when != never) keeper_.want(time_point(duration(when)));
    if (late) count();
  }
  void set_deadline(std::size_t place, std::int64_t when) {
    {
      const locked guard(mutex_);
      if (places_[place] == not_there) return;
      places_[place] = when;
    }
    keeper_.want(time_point(duration(when)));
  }
  void end(std::size_t place) {
    put(place, not_there);
    done_[place] = 1;
    if (!lives_.leave()) return;
    for (auto& one : done_) static_cast<void>(static_cast<int>(one));  // as those who join may
    if (wrong_ == hocket_test::mistake::goes_before_the_keeper) let_go();
    keeper_.rest();
    if (wrong_ != hocket_test::mistake::goes_before_the_keeper) let_go();
  }

 private:
  void count() { model::require(lives_.admit(life_count::most_live)); }
  void put(std::size_t place, std::int64_t when) {
    const locked guard(mutex_);
    places_[place] = when;
  }

  hocket_test::small_loop& loop_;
  const hocket_test::mistake wrong_;
  void (*const free_)(void*);
  void* const of_;
  mutable std::size_t looked_ = 0;
  life_count lives_;
  keeper keeper_{*this};
  thread_mutex mutex_;
  std::array<model::var<int>, 2> done_{model::var<int>{0, "first done"}, model::var<int>{0, "second done"}};
  time_points places_{model::var<std::int64_t>{not_there, "first place"},
                      model::var<std::int64_t>{not_there, "second place"}};
};

}  // namespace hocket::inline HOCKET_ABI::detail
