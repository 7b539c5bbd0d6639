// FAULTS 11, 12 and 16 by brute force, for fibers and tasks on a loop: waits are ended in every way while another
// thread grants, cancels, kills, and while the loop is destroyed under them. A million waits in a plain build. No wait
// hangs, no coroutine is resumed while it runs, none is left, and the permits balance.
#include <hocket/runtime/loop.hpp>

#include "stress/races.hpp"

using namespace hocket_test;

namespace {

constexpr long wanted =
    detail::sanitizer == detail::sanitizer_kind::plain && !detail::conforming_mode ? 1'000'000 : 30'000;

}  // namespace

TEST_CASE("a million waits end once each, whoever ends them") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  long waits = 0, rounds = 0;
  for (; waits < wanted; ++rounds) {
    arena in;
    auto lp = std::make_unique<loop>();
    std::vector<join_handle<>> handles = spawn_racers(*lp, in, random);
    std::thread other(disturb, std::ref(in), std::ref(handles), random());
    // Some rounds end by themselves: those that wait without a deadline are cancelled in the end. Others end by force.
    lp->run_for(short_time(random) * 4);
    if (random.below(2) == 0) {
      for (auto& handle : handles) handle.cancel();
      lp->run();
    }
    lp.reset();
    other.join();
    check_arena(in, handles);
    waits += in.waits;
  }
  MESSAGE("waits: ", waits, " in ", rounds, " rounds");
}
