// A pool in a forked child of a process in which another thread held the pool's mutex and the list of dump sections.
#include "fake_server.hpp"

#include "support/death.hpp"

#include <hocket/core/sync_wait.hpp>

#include <atomic>
#include <fcntl.h>
#include <latch>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

// Stops the first reader after `holds` was set: a dump, which reads the clock under both mutexes.
class held_clock final : public clock_source {
 public:
  time_point now() const noexcept override {
    if (holds_.exchange(false)) {
      held_.count_down();
      released_.wait();
    }
    return steady_clock().now();
  }
  void hold_next() noexcept { holds_ = true; }
  void wait_until_held() const noexcept { held_.wait(); }
  void release() noexcept { released_.count_down(); }

 private:
  mutable std::atomic<bool> holds_{false};
  mutable std::latch held_{1}, released_{1};
};

template <class Body>
void run_on(loop& lp, Body body) {
  auto handle = spawn(lp, std::ref(body));
  lp.run();
  sync_wait(handle);
}

void use_own_pool() {
  fake_server server;
  loop own;
  fake_pool pool(own, connect_fake{&server}, {.limit = 1});
  run_on(own, [&]() -> task<> {
    auto lent = co_await pool.acquire();
    CHECK(lent);
  });
  CHECK(server.connects == 1);
}

}  // namespace

TEST_CASE("in a forked child a pool of the parent refuses, its leases end, and a pool of the child works") {
  fake_server server;
  held_clock clock;
  loop lp;
  std::optional<fake_pool> pool(std::in_place, lp, connect_fake{&server},
                                connection_pool_options{.limit = 2, .clock = &clock});
  std::optional<fake_pool::lease> lent, discarded;
  run_on(lp, [&]() -> task<> {
    lent.emplace((co_await pool->acquire()).value());
    discarded.emplace((co_await pool->acquire()).value());
  });
  const int sink = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  clock.hold_next();
  std::thread dumps([&] { lp.dump(sink); });
  clock.wait_until_held();

  expect_return([&] {
    loop own;
    run_on(own, [&]() -> task<> {
      const auto refused = co_await pool->acquire();
      REQUIRE_FALSE(refused);
      CHECK(refused.error() == std::errc::connection_aborted);
      const auto report = co_await pool->graceful_shutdown();
      CHECK(report.remaining == 0);
    });
    lent.reset();
    discarded->discard();
    CHECK(server.open == 0);
    pool->resize(1);
    CHECK(pool->statistics().size == 0);
    pool->close();
    pool.reset();
    use_own_pool();
  });

  clock.release();
  dumps.join();
  ::close(sink);
  CHECK(server.open == 2);
}
