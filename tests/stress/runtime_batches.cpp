// Several threads and the workers themselves hand batches to one runtime, while it is shut down: each coroutine runs
// once, or is refused, and none is lost (FAULTS 61).
#include <hocket/base/random.hpp>
#include <hocket/core/spawn_batch.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/runtime/runtime.hpp>

#include "stress/races.hpp"

using namespace hocket_test;

namespace {

constexpr int rounds = detail::sanitizer == detail::sanitizer_kind::plain && !detail::conforming_mode ? 300 : 60;
constexpr int posters = 2, batches = 6;

struct tally {
  std::atomic<int> begun{0};
  std::atomic<int> unfinished{0};  // callables that exist
};

// Counts the callables: whatever becomes of a spawn, it is destroyed.
struct counted_argument {
  tally* in;
  explicit counted_argument(tally& of) noexcept : in(&of) { ++in->unfinished; }
  counted_argument(counted_argument&& other) noexcept : in(other.in) { ++in->unfinished; }
  ~counted_argument() { --in->unfinished; }
};

task<> as_task(tally& in, counted_argument, bool waits) {
  ++in.begun;
  if (waits) co_await yield();
}

void as_fiber(tally& in, const counted_argument&, bool waits) {
  ++in.begun;
  if (waits) await(yield());
}

// Gives how many of them were refused.
int post_some(hocket::runtime& rt, tally& in, detail::random_engine random, int& spawned) {
  std::vector<join_handle<>> handles;
  {
    spawn_batch batch(rt);
    for (int i = 0; i < batches; ++i) {
      for (std::uint64_t left = random.below(40); left != 0; --left, ++spawned) {
        const bool waits = random.below(2) == 0;
        if (random.below(8) == 0) handles.push_back(spawn(batch, as_fiber, std::ref(in), counted_argument(in), waits));
        else handles.push_back(spawn(batch, as_task, std::ref(in), counted_argument(in), waits));
        if (random.below(16) == 0) handles.back().cancel();
      }
      batch.flush();
    }
  }
  int refused = 0;
  for (auto& one : handles) {
    auto ended = sync_wait(one.join());
    if (!ended) ++refused;
  }
  return refused;
}

// The same by a worker.
task<> post_inside(tally& in, int& spawned) {
  spawn_batch batch;
  for (; spawned < 100; ++spawned) static_cast<void>(spawn(batch, as_task, std::ref(in), counted_argument(in), true));
  co_return;
}

}  // namespace

TEST_CASE("batches from several threads are complete, or refused, while the runtime ends") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  for (const std::size_t workers : {1u, 2u, 8u}) {
    CAPTURE(workers);
    for (int round = 0; round < rounds; ++round) {
      tally in;
      int spawned[posters + 1] = {}, refused[posters] = {};
      {
        hocket::runtime rt({.workers = workers});
        static_cast<void>(spawn(rt, post_inside, std::ref(in), std::ref(spawned[posters])));
        std::vector<std::thread> threads;
        for (int i = 0; i < posters; ++i) {
          threads.emplace_back(
              [&, i, own = detail::random_engine(random())] { refused[i] = post_some(rt, in, own, spawned[i]); });
        }
        if (round % 2 == 0) static_cast<void>(rt.shutdown({.drain = std::chrono::hours(1), .report = -1}));
        for (auto& one : threads) one.join();
        while (rt.live() != 0) std::this_thread::yield();
      }
      CHECK(in.unfinished == 0);
      CHECK(in.begun <= spawned[0] + spawned[1] + spawned[2]);
      CHECK(in.begun >= spawned[0] + spawned[1] - refused[0] - refused[1]);
      if (round % 2 != 0) CHECK(in.begun == spawned[0] + spawned[1] + spawned[2]);
    }
  }
}
