// A look at the workers of a runtime from outside: whether all that can run has run.
//
// That is so when all workers sleep at one moment, where nobody but they themselves and this thread wakes them. The
// moment is found by looking twice: a worker that slept at both looks, and has made no turn between, slept in between;
// if that holds of all, all of them slept when the first look had ended.
#pragma once
#include <hocket/runtime/runtime.hpp>

#include "runtime/runtime_state.hpp"

#include <thread>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct runtime_look {
  // Whether all workers slept, with nothing to do, at some moment of this call.
  static bool all_asleep(const runtime& rt) {
    if (!rt.state_->injected.empty()) return false;  // first: who takes it does not sleep, from before until it has run
    std::vector<std::size_t> turns;
    for (const auto& one : rt.state_->workers) {
      if (!one->sleeps()) return false;
      turns.push_back(one->turns());
    }
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const worker& one = *rt.state_->workers[i];
      if (!one.sleeps() || one.turns() != turns[i]) return false;
    }
    return true;
  }
  static void wait_until_asleep(const runtime& rt) {
    while (!all_asleep(rt)) std::this_thread::yield();
  }
  // Has all workers stand still, however long that takes.
  static void stand_still(const runtime& rt) {
    runtime_state& all = *rt.state_;
    const std::uint32_t phase = all.bring_to_a_standstill();
    for (const auto& one : all.workers)
      static_cast<void>(standstill::wait_stopped(one->stopped_phase(), phase, time_point::max()));
    all.still.end();
  }
  // What the watch does in each of its periods.
  static void watch(const runtime& rt) { rt.state_->watched->check_workers(); }
  // Whether it rests until a worker ends a sleep: all slept since the last time that it was asked.
  static bool watch_rests(const runtime& rt) { return rt.state_->idle.rests(idle_workers::observer::watch); }
  // Changes when a worker rings for the watch and the stall detector.
  static std::uint32_t bell(const runtime& rt) { return rt.state_->read_watch_epoch(); }
  static worker& at(const runtime& rt, std::size_t index) { return *rt.state_->workers[index]; }
};

}}}  // namespace hocket::detail
