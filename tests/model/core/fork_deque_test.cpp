// What a worker has forked, under every schedule: each entry is begun once, by its owner or by a thief, and with all
// that was written before it was pushed. And the protocol without the one or the other half of its fence, which must
// fail.
#include <hocket/core/fork_deque.hpp>

#include "verdict.hpp"

#include <array>

namespace {

using hocket::atomic;
using hocket::demand;
using hocket::fork_deque;
using hocket::fork_entry;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;

struct fork : fork_entry {
  var<int> payload{0, "payload"};
  var<int> runs{0, "runs"};
  void run() {
    require(payload == 1);
    runs = runs + 1;
  }
};

void run(fork_entry* entry) {
  if (entry) static_cast<fork*>(entry)->run();
}

// As a recursion does: forks, forks again, takes back what it can.
template <std::size_t Thieves>
void owner_and_thieves(execution& run_of) {
  atomic<demand> wanted{demand::none};
  fork_deque deque(wanted, 1);
  std::array<fork, 3> forks;
  auto push = [&](fork& one) {
    one.payload = 1;
    require(deque.push(one));
  };
  run_of.thread("owner", [&] {
    push(forks[0]);
    push(forks[1]);
    if (deque.pop_if(forks[1])) forks[1].run();
    push(forks[2]);
    if (deque.pop_if(forks[2])) forks[2].run();
    if (deque.pop_if(forks[0])) forks[0].run();
  });
  for (std::size_t i = 0; i < Thieves; ++i) run_of.thread("thief", [&] { run(deque.steal()); });
  run_of.join();
  while (fork_entry* left = deque.pop()) run(left);
  for (fork& one : forks) require(one.runs == 1);
}

// One entry, one pop, one theft: the heart of the protocol, to be weakened.
template <class OwnersFence, class ThiefsFence>
void one_entry(execution& run_of) {
  atomic<std::uint32_t> bottom{1, "bottom"};
  atomic<std::uint32_t> top{0, "top"};
  var<int> runs{0, "runs"};
  run_of.thread("owner", [&] {
    bottom.store(0, std::memory_order_relaxed);
    OwnersFence{}();
    if (top.load(std::memory_order_relaxed) == 0) runs = runs + 1;
  });
  run_of.thread("thief", [&] {
    top.store(1, std::memory_order_relaxed);
    ThiefsFence{}();
    if (bottom.load(std::memory_order_relaxed) == 1) runs = runs + 1;
  });
  run_of.join();
}

using light = decltype([] { hocket::light_fence(); });
using heavy = decltype([] { hocket::heavy_fence(); });
using no_fence = decltype([] {});

}  // namespace

TEST_SUITE_BEGIN("model/core/fork_deque");

TEST_CASE("a fork is taken back or stolen, once") {
  verdict::none({.preemptions = 3, .stale_reads = 2}, &owner_and_thieves<1>);
  verdict::none({.preemptions = 2, .stale_reads = 1}, &owner_and_thieves<2>);
}

TEST_CASE("without one half of the fence a fork runs twice") {
  verdict::never(&one_entry<light, heavy>);
  verdict::found(bug::data_race, &one_entry<no_fence, heavy>);
  verdict::found(bug::data_race, &one_entry<light, no_fence>);
}

TEST_SUITE_END();
