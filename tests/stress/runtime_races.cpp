// The same races on runtimes of 1 to 8 workers, which are created and destroyed with coroutines in every state (FAULTS
// 11, 12, 16, 61): waits end once, nothing is left, and the permits balance, on however many workers.
#include <hocket/runtime/runtime.hpp>

#include "stress/races.hpp"

using namespace hocket_test;

namespace {

constexpr int rounds = sanitizer == sanitizer_kind::plain && !conforming_mode ? 600 : 40;

}  // namespace

TEST_CASE("waits end once each on any number of workers") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  random_engine random(seed);
  for (const std::size_t workers : {1u, 2u, 4u, 8u}) {
    CAPTURE(workers);
    long waits = 0;
    for (int round = 0; round < rounds; ++round) {
      arena in;
      auto rt = std::make_unique<hocket::runtime>(runtime_options{.workers = workers});
      std::vector<join_handle<>> handles = spawn_racers(*rt, in, random);
      disturb(in, handles, random());
      if (round % 2 == 0) {  // these end by themselves; the others by force, perhaps before they begin
        for (auto& handle : handles) handle.cancel();
        for (auto& handle : handles) {
          while (!handle.done()) std::this_thread::yield();
        }
      }
      rt.reset();
      check_arena(in, handles);
      waits += in.waits;
    }
    CHECK(waits > 0);
  }
}
