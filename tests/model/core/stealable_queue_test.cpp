// The queue of a worker from which others steal, under every schedule: each entry is taken once, by one thread, and
// with all that was written before it was pushed. Every ordering and both fences are weakened in turn, in the queue
// itself: then that must fail.
#include <hocket/core/thread/seam/frame.hpp>
#include <hocket/core/thread/seam/stealable_queue.hpp>

#include "verdict.hpp"

#include <array>

namespace {

using hocket::detail::stealable_queue;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket::primitive::atomic;

struct job {
  hocket::detail::frame_head head{};
  var<int> payload{0, "payload"};
  var<int> runs{0, "runs"};

  std::coroutine_handle<> handle() noexcept { return hocket::detail::handle_of(head); }
};

template <std::size_t N>
struct jobs {
  std::array<job, N> all;

  void push(stealable_queue& to, std::size_t i) {
    all[i].payload = 1;
    require(to.try_push(all[i].handle()));
  }
  bool run(std::coroutine_handle<> one) {
    if (!one) return false;
    for (job& j : all) {
      if (j.handle() != one) continue;
      require(j.payload == 1);
      j.runs = j.runs + 1;
    }
    return true;
  }
  void steal(stealable_queue& from, std::size_t at_most, std::size_t least = 1) {
    std::array<std::coroutine_handle<>, N> loot;
    const std::size_t count = from.steal(std::span(loot).first(at_most), least);
    for (std::size_t i = 0; i < count; ++i) run(loot[i]);
  }
  void each_ran_once() {
    for (job& j : all) require(j.runs == 1);
  }
};

// The owner pushes and pops beside thieves; what they leave it takes in the end.
template <std::size_t N, std::size_t Thieves>
void owner_and_thieves(execution& run) {
  jobs<N> work;
  atomic<bool> wanted{false};
  stealable_queue queue(wanted, 2);
  run.thread("owner", [&] {
    for (std::size_t i = 0; i < N; ++i) work.push(queue, i);
    while (work.run(queue.pop())) {
    }
  });
  for (std::size_t i = 0; i < Thieves; ++i) run.thread("thief", [&] { work.steal(queue, N); });
  run.join();
  work.each_ran_once();
}

// Entries are there already; one comes while the thieves are at work.
void holes_that_grow(execution& run) {
  jobs<4> work;
  atomic<bool> wanted{false};
  stealable_queue queue(wanted, 4);
  for (std::size_t i = 0; i < 3; ++i) work.push(queue, i);
  run.thread("owner", [&] {
    work.run(queue.pop());
    work.push(queue, 3);
    while (work.run(queue.pop())) {
    }
  });
  run.thread("thief", [&] {
    work.steal(queue, 1);
    work.steal(queue, 4);
  });
  run.join();
  work.each_ran_once();
}

}  // namespace

TEST_SUITE_BEGIN("model/core/stealable_queue");

TEST_CASE("an entry is popped or stolen, once") {
  verdict::none({.preemptions = 4, .stale_reads = 2}, &owner_and_thieves<1, 1>);
  verdict::none({.preemptions = 3, .stale_reads = 2}, &owner_and_thieves<2, 1>);
  verdict::none({.preemptions = 2, .stale_reads = 1}, &owner_and_thieves<2, 2>);
}

TEST_CASE("an array that grows under a thief loses nothing") {
  verdict::none({.preemptions = 3, .stale_reads = 1}, &owner_and_thieves<3, 1>);
}

TEST_CASE("a hole is widened at its front and at its back") {
  verdict::none({.preemptions = 3, .stale_reads = 1}, &holes_that_grow);
}

TEST_CASE("every ordering of the queue is needed, the fences of both sides among them") {
  constexpr hocket::model::options bounds{.preemptions = 3, .stale_reads = 2, .spurious = 0};
  CHECK(hocket::model::unneeded_orderings(bounds, &owner_and_thieves<1, 1>, &owner_and_thieves<2, 1>,
                                          &holes_that_grow) == "");
}

TEST_SUITE_END();
