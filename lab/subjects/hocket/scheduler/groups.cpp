// Two tasks of one when_all hand over to each other by events, each waiting under a deadline: so a timer is set and
// taken back for each wait, and a unit has a hand-over, too. A group stays on one worker.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/time/within.hpp>

#include "groups.hpp"

namespace {

using hocket::runtime;
using hocket::task;

struct court {
  hocket::auto_reset_event sides[2];
};

task<> play(court& c, int me, std::size_t k) {
  for (std::size_t i = 0; i < k; ++i) {
    if (me == 0) c.sides[1].set();
    if (!co_await hocket::within(lab::far(2 * i), c.sides[me].wait())) lab::fail("a wait has failed");
    if (me == 1) c.sides[0].set();
  }
}

task<> pair(lab::gate& gate, std::size_t k) {
  court c;
  gate.arrive();
  while (!gate.is_open()) co_await hocket::yield();
  co_await hocket::when_all(play(c, 0, k / 2), play(c, 1, k / 2));
  gate.leave();
}

[[gnu::noinline]] task<int> leaf(int i) { co_return i; }

task<> all_at_once(std::size_t count, std::size_t k, std::uint64_t& sum, double& ns) {
  const double begin = lab::now_ns();
  for (; k; --k) {
    std::vector<task<int>> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i) all.push_back(leaf(static_cast<int>(i)));
    for (int one : co_await hocket::when_all(std::move(all))) sum += static_cast<std::uint64_t>(one);
  }
  ns = lab::now_ns() - begin;
}

}  // namespace

void lab::cancel_timers(const char* system, const load& r, hocket::runtime& rt) {
  gate gate;
  const double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) {
    gate.close(r.workers);
    std::vector<hocket::join_handle<void>> pairs;
    for (std::size_t i = 0; i < r.workers; ++i) pairs.push_back(hocket::spawn(rt, pair, std::ref(gate), 2 * k));
    for (auto& one : pairs) hocket::sync_wait(std::move(one));
    return gate.wait();
  });
  char name[32];
  std::snprintf(name, sizeof name, "%.*s", static_cast<int>(r.workload.size()), r.workload.data());
  r.emit_of(system, name, "ns", ns / static_cast<double>(2 * r.workers));
}

void lab::together(const char* system, const load& r) {
  runtime rt({.workers = r.workers});
  const double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) {
    std::uint64_t sum = 0;
    double took = 0;
    hocket::sync_wait(hocket::spawn(rt, all_at_once, r.count, k, std::ref(sum), std::ref(took)));
    if (sum != k * (r.count * (r.count - 1) / 2)) fail("the tasks gave another sum");
    return took;
  });
  r.emit_of(system, "when_all_10000", "ns", ns / static_cast<double>(r.count));
}
