// The same races on runtimes of 1 to 8 workers, which are created and destroyed with coroutines in every state (FAULTS
// 11, 12, 16, 61): waits end once, nothing is left, and the permits balance, on however many workers.
#include "stress/rounds.hpp"

using namespace hocket_test;

namespace {

constexpr int times = quick ? 40 : 600;

}  // namespace

TEST_CASE("waits end once each on any number of workers") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  for (const std::size_t workers : {1u, 2u, 4u, 8u}) {
    CAPTURE(workers);
    long ended = 0, cut_short = 0;
    for (int round = 0; round < times; ++round) {
      arena in;
      auto rt = std::make_unique<hocket::runtime>(runtime_options{.workers = workers});
      std::vector<join_handle<>> handles = spawn_racers(*rt, in, random);
      disturb(in, handles, random());
      if (round % 2 == 0) {  // these end by themselves; the others by force, after so many waits
        for (auto& handle : handles) handle.cancel();
        wait_for(handles);
      } else {
        for (const long some = random.below(50); in.waits < some && rt->live() != 0;) std::this_thread::yield();
      }
      rt.reset();
      check_arena(in, handles);
      (round % 2 == 0 ? ended : cut_short) += in.waits;
    }
    MESSAGE("waits: ", ended, ", and ", cut_short, " in rounds that were cut short");
    CHECK(ended > 0);
    CHECK(cut_short > 0);
  }
}
