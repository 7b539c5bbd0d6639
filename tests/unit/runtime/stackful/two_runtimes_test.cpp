// Coroutines of two runtimes that await each other, tasks and fibers: each continues at home, also when the other
// runtime has ended meanwhile.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

constexpr std::size_t worker_counts[] = {1, 2, 4};

bool is_on(const hocket::runtime& rt) { return detail::this_thread().binding.pool == &rt; }

// One coroutine below the other, of the two runtimes by turns and of both kinds. Each returns how many continued at
// home.
struct ladder {
  hocket::runtime& here;
  hocket::runtime& there;

  ladder turned() const { return {there, here}; }
  static task<int> of_task(ladder on, int depth) {
    if (depth == 0) co_return is_on(on.here);
    auto next = depth % 3 == 0 ? spawn(on.there, &of_task, on.turned(), depth - 1)
                               : spawn(on.there, &of_fiber, on.turned(), depth - 1);
    const int below = co_await std::move(next);
    co_return below + is_on(on.here);
  }
  static int of_fiber(ladder on, int depth) {
    if (depth == 0) return is_on(on.here);
    auto next = depth % 2 == 0 ? spawn(on.there, &of_task, on.turned(), depth - 1)
                               : spawn(on.there, &of_fiber, on.turned(), depth - 1);
    const int below = await(std::move(next));
    return below + is_on(on.here);
  }
};

}  // namespace

TEST_CASE("coroutines of two runtimes await each other, and each goes on at home") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    constexpr int depth = 12;
    hocket::runtime one({.workers = workers}), other({.workers = 2});
    std::vector<join_handle<int>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(spawn(one, &ladder::of_task, ladder{one, other}, depth));
      all.push_back(spawn(other, &ladder::of_fiber, ladder{other, one}, depth));
    }
    for (auto& handle : all) CHECK(sync_wait(std::move(handle)) == depth + 1);
  }
}

TEST_CASE("whoever awaits a coroutine of a runtime that ends is told so, at home") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    event never;
    std::atomic<int> waiting{0};
    hocket::runtime stays({.workers = workers});
    std::optional<hocket::runtime> ends(std::in_place, runtime_options{.workers = 2});
    auto waits = [&]() -> task<> {
      ++waiting;
      static_cast<void>(co_await never.wait());
    };
    auto parks = [&] {
      ++waiting;
      static_cast<void>(await(never.wait()));
    };
    auto task_joins = [&](join_handle<> of) -> task<std::error_code> {
      ++waiting;
      auto joined = co_await of.join();
      co_return is_on(stays) && !joined ? joined.error() : std::error_code{};
    };
    auto fiber_joins = [&](join_handle<> of) {
      ++waiting;
      auto joined = await(of.join());
      return is_on(stays) && !joined ? joined.error() : std::error_code{};
    };
    std::vector<join_handle<std::error_code>> joiners;
    for (int i = 0; i < 5; ++i) {
      joiners.push_back(spawn(stays, task_joins, spawn(*ends, waits)));
      joiners.push_back(spawn(stays, task_joins, spawn(*ends, parks)));
      joiners.push_back(spawn(stays, fiber_joins, spawn(*ends, waits)));
      joiners.push_back(spawn(stays, fiber_joins, spawn(*ends, parks)));
    }
    while (waiting < 40) std::this_thread::yield();
    ends.reset();
    for (auto& one : joiners) CHECK(sync_wait(std::move(one)) == std::errc::operation_canceled);
  }
}

TEST_CASE("a runtime that ends takes its own coroutines out of their waits for those of another, which go on") {
  for (const std::size_t workers : worker_counts) {
    CAPTURE(workers);
    event bell;
    std::atomic<int> waiting{0}, unwound{0};
    struct witness {
      std::atomic<int>& unwound;
      ~witness() { ++unwound; }
    };
    hocket::runtime stays({.workers = workers});
    auto waits = [&]() -> task<int> {
      static_cast<void>(co_await bell.wait());
      co_return 1;
    };
    std::vector<join_handle<int>> awaited;
    for (int i = 0; i < 10; ++i) awaited.push_back(spawn(stays, waits));
    {
      hocket::runtime ends({.workers = 2});
      auto task_joins = [&](join_handle<int>& of) -> task<> {
        const witness local{unwound};
        ++waiting;
        static_cast<void>(co_await of);
      };
      auto fiber_joins = [&](join_handle<int>& of) {
        const witness local{unwound};
        ++waiting;
        static_cast<void>(await(of));
      };
      for (std::size_t i = 0; i < awaited.size(); i += 2) {
        spawn(ends, task_joins, std::ref(awaited[i]));
        spawn(ends, fiber_joins, std::ref(awaited[i + 1]));
      }
      while (waiting < 10) std::this_thread::yield();
    }
    CHECK(unwound == 10);
    bell.set();
    for (auto& one : awaited) CHECK(sync_wait(std::move(one)) == 1);
  }
}

TEST_CASE("a coroutine that spawns on a runtime which refuses is told so where it awaits that") {
  hocket::runtime stays({.workers = 1}), ends({.workers = 1});
  static_cast<void>(ends.shutdown());
  auto nothing = [] {};
  auto body = [&]() -> task<std::error_code> {
    auto refused = spawn(ends, nothing);
    auto joined = co_await refused.join();
    co_return is_on(stays) && !joined ? joined.error() : std::error_code{};
  };
  CHECK(sync_wait(spawn(stays, body)) == std::errc::operation_canceled);
}
