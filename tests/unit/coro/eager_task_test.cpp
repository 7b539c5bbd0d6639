#include <hocket/coro/eager_task.hpp>

#include <hocket/base/error.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/task.hpp>

#include "support/death.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

static_assert(!std::is_copy_constructible_v<eager_task<int>> && std::is_nothrow_move_constructible_v<eager_task<int>>);
static_assert(awaitable<eager_task<int>> && awaitable<eager_task<int>&> && detail::trusted_awaiter<eager_task<int>>);
static_assert(std::is_same_v<await_result_t<eager_task<int&>>, int&>);
static_assert(detail::has_header<eager_task<int>::promise_type> && !detail::is_task<eager_task<int>>);

eager_task<int> twice_at_once(int n) { co_return 2 * n; }
task<int> lazily(int n) { co_return n; }

// Receives one value, and adds to it.
eager_task<int> plus_later(oneshot_receiver<int> from, int n) {
  auto got = co_await from.receive();
  if (!got) detail::throw_error(got.error());
  co_return *got + n;
}

// Counts the bytes that its coroutines get.
template <class T>
struct eager_tally {
  using value_type = T;
  std::size_t* bytes;
  explicit eager_tally(std::size_t& into) : bytes(&into) {}
  template <class U>
  eager_tally(const eager_tally<U>& other) : bytes(other.bytes) {}
  T* allocate(std::size_t n) {
    *bytes += n * sizeof(T);
    return std::allocator<T>{}.allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    *bytes -= n * sizeof(T);
    std::allocator<T>{}.deallocate(p, n);
  }
  friend bool operator==(const eager_tally&, const eager_tally&) = default;
};

eager_task<int> placed(std::allocator_arg_t, eager_tally<char>, int n) { co_return n; }

}  // namespace

TEST_CASE("an eager task has run when its call returns, and awaiting it does not suspend") {
  bool ran = false;
  auto body = [&]() -> eager_task<int> {
    ran = true;
    co_return 7;
  };
  auto t = body();
  CHECK(ran);
  CHECK(t.is_ready());
  CHECK(t.await_ready());
  CHECK(sync_wait(std::move(t)) == 7);
  CHECK_FALSE(t);
  auto outer = []() -> task<int> {
    auto one = twice_at_once(1);
    int sum = co_await std::move(one);
    CHECK_FALSE(one);
    co_return sum + co_await twice_at_once(2);
  };
  CHECK(sync_wait(outer()) == 6);
}

TEST_CASE("the result of an eager task may be void, a reference, or a value that only moves") {
  int target = 1;
  auto nothing = [&]() -> eager_task<> {
    ++target;
    co_return;
  };
  sync_wait(nothing());
  CHECK(target == 2);
  auto refer = [&]() -> eager_task<int&> { co_return target; };
  CHECK(&sync_wait(refer()) == &target);
  auto make = [](int n) -> eager_task<std::unique_ptr<int>> { co_return std::make_unique<int>(n); };
  CHECK(*sync_wait(make(4)) == 4);
}

TEST_CASE("a body that waits goes on later, and its owner is posted when it ends") {
  auto ends = make_oneshot<int>();
  queue_executor queue;
  int got = 0;
  auto outer = [&]() -> foreign {
    co_await hop_to(queue);
    auto t = plus_later(std::move(ends.receiver), 1);
    CHECK_FALSE(t.is_ready());
    got = co_await std::move(t);
  };
  auto root = outer();
  queue.run();
  CHECK_FALSE(root.done());
  ends.sender.send(6);
  CHECK(got == 0);  // woken through the queue, not inside of send
  queue.run();
  CHECK(got == 7);
}

TEST_CASE("several eager tasks wait at the same time") {
  auto first = make_oneshot<int>(), second = make_oneshot<int>();
  queue_executor queue;
  std::vector<int> got;
  auto outer = [&]() -> foreign {
    co_await hop_to(queue);
    auto one = plus_later(std::move(first.receiver), 10);
    auto two = plus_later(std::move(second.receiver), 20);
    got.push_back(co_await std::move(one));
    got.push_back(co_await std::move(two));
  };
  auto root = outer();
  queue.run();
  second.sender.send(2);
  queue.run();
  CHECK(got.empty());
  first.sender.send(1);
  queue.run();
  CHECK(got == std::vector<int>{11, 22});
}

TEST_CASE("an exception of an eager body is rethrown where it is awaited, the same object") {
  const void* thrown = nullptr;
  auto fails = [&]() -> eager_task<int> {
    try {
      throw std::runtime_error("as told");
    } catch (std::runtime_error& e) {
      thrown = &e;
      throw;
    }
    co_return 0;
  };
  auto outer = [&]() -> task<bool> {
    auto t = fails();  // does not throw
    try {
      co_await std::move(t);
    } catch (std::runtime_error& e) {
      co_return &e == thrown;
    }
    co_return false;
  };
  CHECK(sync_wait(outer()));
}

TEST_CASE("an eager body awaits tasks and other eager tasks, on the stack of its caller, and beyond it") {
  queue_executor queue;
  int sum = 0;
  auto many = []() -> eager_task<int> {
    int total = 0;
    for (int i = 0; i < 1000; ++i) total += co_await lazily(1) + co_await twice_at_once(1);
    co_return total;
  };
  auto outer = [&]() -> foreign {
    co_await hop_to(queue);
    auto t = many();
    CHECK_FALSE(t.is_ready());  // its budget on this stack was spent
    sum = co_await std::move(t);
  };
  auto root = outer();
  queue.run();
  CHECK(root.done());
  CHECK(sum == 3000);
  CHECK(sync_wait(many()) == 3000);  // where there is no queue it goes on
}

TEST_CASE("an eager body runs under its caller's context, and leaves that as it was") {
  queue_executor queue;
  auto ends = make_oneshot<int>();
  stop_source stop;
  auto own = context::child_of(context::root(), {.name = "caller", .stop = &stop});
  std::string seen;
  std::error_code error;
  auto body = [&]() -> eager_task<> {
    seen = current_context().name();
    auto got = co_await ends.receiver.receive();
    error = got.error();
    seen += current_context().name();
  };
  auto outer = [&]() -> foreign {
    co_await hop_to(queue);
    detail::this_thread().ctx = own.get();
    auto t = body();
    CHECK(&current_context() == own.get());
    co_await std::move(t);
    CHECK(&current_context() == own.get());
  };
  auto root = outer();
  queue.run();
  CHECK(seen == "caller");
  stop.request();
  queue.run();
  CHECK(root.done());
  CHECK(error == std::errc::operation_canceled);
  CHECK(seen == "callercaller");
  detail::this_thread().ctx = nullptr;
}

TEST_CASE("a killed body that somebody else awaits tells that it was cancelled") {
  queue_executor queue;
  auto ends = make_oneshot<int>();
  stop_source stop;
  auto own = context::child_of(context::root(), {.stop = &stop});
  eager_task<int> t;
  auto caller = [&]() -> foreign {
    co_await hop_to(queue);
    detail::this_thread().ctx = own.get();
    t = plus_later(std::move(ends.receiver), 1);
    detail::this_thread().ctx = nullptr;
  };
  auto root = caller();
  queue.run();
  stop.request(stop_level::kill);
  queue.run();
  CHECK(t.is_ready());
  CHECK_THROWS_AS(sync_wait(std::move(t)), cancelled);
}

TEST_CASE("a thread awaits an eager task whose body ends on another one") {
  for (int i = 0; i < 100; ++i) {
    auto ends = make_oneshot<int>();
    queue_executor queue;
    eager_task<int> t;
    auto caller = [&]() -> foreign {
      co_await hop_to(queue);
      t = plus_later(std::move(ends.receiver), 1);
    };
    auto root = caller();
    queue.run();
    std::thread other([&] {
      ends.sender.send(i);
      queue.run();
    });
    CHECK(sync_wait(std::move(t)) == i + 1);
    other.join();
  }
}

TEST_CASE("a plain thread that drops an eager task waits for its end") {
  auto ends = make_oneshot<int>();
  queue_executor queue;
  bool ended = false;
  auto body = [&]() -> eager_task<> {
    (void)co_await ends.receiver.receive();
    ended = true;
  };
  {
    eager_task<> t;
    auto caller = [&]() -> foreign {
      co_await hop_to(queue);
      t = body();
    };
    auto root = caller();
    queue.run();
    ends.sender.send(1);
    std::thread other([&] { queue.run(); });
    t = {};
    CHECK(ended);
    other.join();
  }
}

TEST_CASE("an eager task that has ended is dropped, with its frame and its value") {
  auto body = [](counted) -> eager_task<counted> { co_return counted{}; };
  {
    auto t = body(counted{});
    CHECK(counted::live > 0);
  }
  CHECK(counted::live == 0);
  auto keep = [&]() -> eager_task<counted> { co_return co_await body(counted{}); };
  sync_wait(keep());
  CHECK(counted::live == 0);
}

TEST_CASE("an exception that nobody receives is given up for another one") {
  auto fails = []() -> eager_task<> {
    throw 1;
    co_return;
  };
  auto outer = [&]() -> task<> {
    auto t = fails();
    throw std::runtime_error("the one that counts");
    co_await std::move(t);
  };
  CHECK_THROWS_AS(sync_wait(outer()), std::runtime_error);
}

TEST_CASE("the frame of an eager task comes from the allocator that it is given") {
  std::size_t bytes = 0;
  {
    auto t = placed(std::allocator_arg, eager_tally<char>(bytes), 5);
    CHECK(bytes > 0);
    CHECK(sync_wait(std::move(t)) == 5);
  }
  CHECK(bytes == 0);
}

TEST_CASE("misuse of an eager task aborts and names the remedy") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        auto t = twice_at_once(1);
        sync_wait(std::move(t));
        sync_wait(std::move(t));
      },
      "call the coroutine function again");
  expect_fatal([] { (void)eager_task<int>().is_ready(); }, "an empty eager_task was used");
  expect_fatal(
      [] {
        auto ends = make_oneshot<int>();
        auto t = plus_later(std::move(ends.receiver), 1);
      },
      "outside of any executor");
  expect_fatal(
      [] {
        queue_executor queue;
        auto ends = make_oneshot<int>();
        auto outer = [&]() -> foreign {
          co_await hop_to(queue);
          {
            auto t = plus_later(std::move(ends.receiver), 1);
          }
        };
        auto root = outer();
        queue.run();
      },
      "a task's destructors cannot wait");
  expect_fatal(
      [] {
        queue_executor queue;
        auto ends = make_oneshot<int>();
        auto outer = [&]() -> foreign {
          co_await hop_to(queue);
          auto t = plus_later(std::move(ends.receiver), 1);
          co_await std::move(t);
        };
        auto root = std::make_unique<foreign>(outer());
        queue.run();
        root.reset();
      },
      "was destroyed while it is awaited");
  expect_fatal(
      [] {
        auto fails = []() -> eager_task<> {
          throw std::runtime_error("lost");
          co_return;
        };
        auto t = fails();
      },
      "lost");
}
