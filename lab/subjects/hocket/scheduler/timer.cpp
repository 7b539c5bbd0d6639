// The timers of hocket's workers alone: a node is attached and detached, and nobody waits for it. As many tasks do so
// as there are workers; none is suspended meanwhile, so each stays with its worker's timers.
#include <hocket/core/executor.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "scheduler/scheduler.hpp"

namespace {

using hocket::task;
using lab::load;

struct node : hocket::detail::timer_node {
  node() noexcept {
    static constexpr hocket::detail::timer_kind rings{
        [](hocket::detail::timer_node&, hocket::detail::timer_call) noexcept {
          lab::fail("a timer fired that was far away");
        }};
    kind = &rings;
  }
};

hocket::detail::timer_service& timers_here() { return *hocket::current_executor()->timers(); }

void set(hocket::detail::timer_service& timers, node& one, std::size_t i) {
  one.when = hocket::time_point::max();
  one.set_after(lab::far(i));
  timers.attach_after(one);
}

task<> set_all(std::vector<node>& live) {
  for (std::size_t i = 0; i < live.size(); ++i) set(timers_here(), live[i], i);
  co_return;
}

task<> set_and_cancel(lab::gate& gate, std::size_t k) {
  gate.arrive();
  while (!gate.is_open()) co_await hocket::yield();
  hocket::detail::timer_service& timers = timers_here();
  node one;
  for (std::size_t i = 0; i < k; ++i) {
    set(timers, one, i);
    if (!timers.detach(one)) lab::fail("a timer could not be taken back");
  }
  gate.leave();
}

void cancel(const char* system, const load& r, const char* metric, std::size_t others) {
  hocket::runtime rt({.workers = r.workers});
  std::vector<node> live(others);
  hocket::sync_wait(hocket::spawn(rt, set_all, std::ref(live)));
  lab::gate gate;
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    gate.close(r.workers);
    std::vector<hocket::join_handle<void>> all;
    for (std::size_t i = 0; i < r.workers; ++i) all.push_back(hocket::spawn(rt, set_and_cancel, std::ref(gate), k));
    for (auto& one : all) hocket::sync_wait(std::move(one));
    return gate.wait();
  });
  r.emit_of(system, metric, "ns", ns / static_cast<double>(r.workers));
  lab::leave();
}

constexpr lab::named_load loads[] = {
    {"timer_cancel", [](const char* system, const load& r) { cancel(system, r, "timer_cancel", 0); }},
    {"timer_cancel_1e6", [](const char* system, const load& r) { cancel(system, r, "timer_cancel_1e6", r.count); }},
};

}  // namespace

int main(int argc, char** argv) { return lab::run_load(LAB_SYSTEM, argc, argv, loads); }
