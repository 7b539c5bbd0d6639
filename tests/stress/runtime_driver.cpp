// Waits in the drivers of a runtime's workers, which end in every way at once: what they wait for comes, they time out,
// are cancelled and killed, from any thread, and the runtime is destroyed beneath them.
#include <hocket/runtime/runtime.hpp>

#include "stress/races.hpp"
#include "support/readiness_driver.hpp"
#include "unit/runtime/wire.hpp"

using namespace hocket_test;

namespace {

constexpr int rounds = detail::sanitizer == detail::sanitizer_kind::plain && !detail::conforming_mode ? 300 : 30;
constexpr std::size_t line_count = 24;

struct outcomes {
  std::atomic<long> granted{0}, ended{0};
};

task<> read_as_task(const wire& from, outcomes& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < 20; ++i) {
    auto ready = co_await within(short_time(random), readable(from.fd()));
    static_cast<void>(from.take());
    ++(ready ? in.granted : in.ended);
    if (random.below(4) == 0) co_await yield();
  }
}

void read_as_fiber(const wire& from, outcomes& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < 20; ++i) {
    const bool ready = await(within(short_time(random), readable(from.fd()))).has_value();
    static_cast<void>(from.take());
    ++(ready ? in.granted : in.ended);
    if (random.below(4) == 0) await(yield());
  }
}

}  // namespace

TEST_CASE("waits in drivers end once each, however they end") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  const std::vector<wire> lines(line_count);
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    outcomes in;
    for (int round = 0; round < rounds; ++round) {
      readiness_drivers io(1 + random.below(8));
      auto rt = std::make_unique<hocket::runtime>(runtime_options{.workers = workers});
      std::vector<join_handle<>> handles;
      for (std::size_t i = 0; i < line_count; ++i) {
        const std::uint64_t own = random();
        if (i % 2 == 0) handles.push_back(spawn(*rt, read_as_task, std::cref(lines[i]), std::ref(in), own));
        else handles.push_back(spawn(*rt, read_as_fiber, std::cref(lines[i]), std::ref(in), own));
      }
      for (int i = 0; i < 200; ++i) {
        const std::uint32_t which = random.below(line_count);
        const std::uint32_t what = random.below(40);
        if (what == 0) handles[which].cancel();
        else if (what == 1) handles[which].kill();
        else lines[which].send();
      }
      if (round % 2 == 0) {
        for (auto& handle : handles) {
          while (!handle.done()) std::this_thread::yield();
        }
        CHECK(io.waiting() == 0);
      }
      rt.reset();
      for (auto& handle : handles) CHECK(handle.done());
    }
    CHECK(in.granted > 0);
    CHECK(in.ended > 0);
  }
}
