// Time: a heartbeat at equal distances (interval), a limit for its silence (within), and a nurse's rounds, which may be
// late (slack), so they need no wake-up of their own.
#include <hocket/stackless.hpp>

#include <cstdio>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<> beat(auto_reset_event& heard, int beats) {
  interval every(2ms);
  for (; beats > 0; --beats) {
    auto tick = co_await every.tick();
    if (!tick) co_return;  // cancelled
    heard.set();
  }
}

// Returns the number of beats until a silence of `limit`.
task<int> listen(auto_reset_event& heard, duration limit) {
  for (int beats = 0;; ++beats) {
    auto heard_one = co_await within(limit, heard.wait());
    if (!heard_one) co_return beats;
  }
}

task<> make_rounds(int& rounds) {
  for (;; ++rounds) {
    auto slept = co_await sleep_for(3ms, 1ms);
    if (!slept) co_return;
  }
}

task<bool> hear_and_miss() {
  auto_reset_event heard;
  int rounds = 0;
  auto body = [&](scope& all) -> task<int> {
    auto nurse = spawn(all, make_rounds, std::ref(rounds));
    spawn(all, beat, std::ref(heard), 10);
    const int beats = co_await listen(heard, 1s);
    nurse.cancel();
    co_return beats;
  };
  const int beats = co_await in_scope(body);
  std::printf("%d beats\n", beats);
  co_return beats > 0 && beats <= 10 && rounds > 0;
}

}  // namespace

int main() { return run(hear_and_miss) ? 0 : 1; }
