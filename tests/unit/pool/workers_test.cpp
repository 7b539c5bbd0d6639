// A pool that tasks and fibers of several workers use at a time: each connection has one borrower, and none is lost.
#include <hocket/base/random.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

std::atomic<int> open_connections{0};

// Counts its borrowers. Its drain takes a turn.
class counted {
 public:
  counted() noexcept { ++open_connections; }
  counted(counted&& other) noexcept : state_(other.state_) { ++open_connections; }
  counted& operator=(counted&&) noexcept = default;
  ~counted() { --open_connections; }

  connection_state state() const noexcept { return state_; }
  bool is_idle() noexcept { return state_ == connection_state::idle; }
  task<result<void>> drain() {
    static_cast<void>(co_await yield());
    state_ = connection_state::idle;
    co_return {};
  }
  void set_state(connection_state state) noexcept { state_ = state; }
  // Whether the caller is alone.
  bool enter() noexcept { return users_++ == 0; }
  void leave() noexcept { --users_; }

 private:
  connection_state state_ = connection_state::idle;
  int users_ = 0;
};

}  // namespace

TEST_CASE("tasks and fibers of four workers share eight connections: each has one borrower at a time") {
  std::atomic<int> wrong{0}, done{0};
  {
    hocket::runtime rt({.workers = 4});
    std::atomic<unsigned> attempts{0};
    connection_pool<counted> pool(rt,
                                  [&]() -> task<result<counted>> {
                                    static_cast<void>(co_await yield());
                                    if (attempts++ % 5 == 4) co_return failure(std::errc::connection_refused);
                                    co_return counted();
                                  },
                                  {.limit = 8});
    const auto use = [&](counted& lent, int step) {
      if (!lent.enter() || lent.state() != connection_state::idle) ++wrong;
      lent.leave();
      if (step % 3 == 0) lent.set_state(connection_state::in_transaction);
      if (step % 17 == 0) lent.set_state(connection_state::broken);
      ++done;
    };
    const auto in_task = [&]() -> task<> {
      for (int i = 0; i < 200; ++i) {
        auto lent = co_await within(i % 7 == 0 ? 50us : duration(1h), pool.acquire());
        if (lent) use(**lent, i);
      }
    };
    const auto in_fiber = [&] {
      for (int i = 0; i < 200; ++i) {
        auto lent = await(within(i % 7 == 0 ? 50us : duration(1h), pool.acquire()));
        if (lent) use(**lent, i);
      }
    };
    std::vector<join_handle<>> all;
    for (int i = 0; i < 32; ++i) {
      all.push_back(spawn(rt, in_task));
      all.push_back(spawn(rt, in_fiber));
    }
    for (int i = 0; i < 16; ++i) {
      auto killed = spawn(rt, in_task);
      killed.kill();
    }
    for (auto& each : all) sync_wait(each);
    const auto report = sync_wait(pool.graceful_shutdown({.drain = 1h}));
    CHECK(report.remaining == 0);
    const connection_pool_statistics numbers = pool.statistics();
    CHECK(numbers.size == numbers.connecting);  // a connect whose waiter has left
    CHECK(numbers.waiters == 0);
    CHECK(numbers.lent == 0);
  }
  CHECK(wrong == 0);
  CHECK(done > 0);
  CHECK(open_connections == 0);
}
