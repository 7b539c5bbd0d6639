#include <hocket/coro/shared_task.hpp>

#include <hocket/core/context.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
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

static_assert(std::is_copy_constructible_v<shared_task<int>> && std::is_nothrow_move_constructible_v<shared_task<int>>);
static_assert(awaitable<shared_task<int>&> && awaitable<const shared_task<int>&> && !awaitable<shared_task<int>>);
static_assert(std::is_same_v<await_result_t<shared_task<int>&>, const int&>);
static_assert(std::is_same_v<await_result_t<shared_task<int&>&>, int&>);
static_assert(std::is_void_v<await_result_t<shared_task<>&>>);
static_assert(detail::has_header<shared_task<int>::promise_type>);

shared_task<std::string> shared_text(int& runs) {
  ++runs;
  co_return "some text that is too long to lie in the string itself";
}

// Receives one value, and adds to it.
shared_task<int> plus_once(oneshot_receiver<int> from, int n, counted = {}) {
  auto got = co_await from.receive();
  if (!got) detail::throw_error(got.error());
  co_return *got + n;
}

template <class T>
struct shared_tally {
  using value_type = T;
  std::size_t* bytes;
  explicit shared_tally(std::size_t& into) : bytes(&into) {}
  template <class U>
  shared_tally(const shared_tally<U>& other) : bytes(other.bytes) {}
  T* allocate(std::size_t n) {
    *bytes += n * sizeof(T);
    return std::allocator<T>{}.allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    *bytes -= n * sizeof(T);
    std::allocator<T>{}.deallocate(p, n);
  }
  friend bool operator==(const shared_tally&, const shared_tally&) = default;
};

shared_task<int> shared_from(std::allocator_arg_t, shared_tally<char>, int n) { co_return n; }

}  // namespace

TEST_CASE("a shared task runs once, when it is first awaited, and everybody gets the same value") {
  int runs = 0;
  auto t = shared_text(runs);
  CHECK(runs == 0);
  CHECK_FALSE(t.is_ready());
  const std::string& first = sync_wait(t);
  CHECK(first.starts_with("some text"));
  CHECK(t.is_ready());
  auto copy = t;
  auto reads = [&]() -> task<const std::string*> { co_return &co_await copy; };
  CHECK(sync_wait(reads()) == &first);
  CHECK(*sync_wait(t.wait()) == first);
  CHECK(runs == 1);
}

TEST_CASE("the result of a shared task may be void or a reference") {
  int n = 1;
  auto count = [&]() -> shared_task<> {
    ++n;
    co_return;
  };
  auto nothing = count();
  sync_wait(nothing);
  sync_wait(nothing);
  CHECK(n == 2);
  CHECK(sync_wait(nothing.wait()).has_value());
  auto refer = [&]() -> shared_task<int&> { co_return n; };
  auto reference = refer();
  CHECK(&sync_wait(reference) == &n);
  auto make = []() -> shared_task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); };
  auto only_moves = make();
  CHECK(*sync_wait(only_moves) == 4);
}

TEST_CASE("a shared task is posted where its first awaiter runs, and wakes all in the order in which they came") {
  queue_executor queue;
  auto ends = make_oneshot<int>();
  auto t = plus_once(std::move(ends.receiver), 1);
  std::vector<int> got;
  auto wait = [&](int me) -> foreign {
    co_await hop_to(queue);
    const int n = co_await t;
    got.push_back(10 * n + me);
  };
  auto one = wait(1), two = wait(2), three = wait(3);
  queue.run();
  CHECK(got.empty());
  ends.sender.send(6);
  queue.run();
  CHECK(got == std::vector<int>{71, 72, 73});
  CHECK(one.done());
  CHECK(two.done());
  CHECK(three.done());
}

TEST_CASE("a shared task gives the same exception object to all") {
  auto fails = []() -> shared_task<int> {
    throw std::runtime_error("as told");
    co_return 0;
  };
  auto t = fails();
  std::vector<const void*> seen;
  for (int i = 0; i < 2; ++i) {
    try {
      sync_wait(t);
    } catch (const std::runtime_error& e) {
      seen.push_back(&e);
    }
  }
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == seen[1]);
  CHECK_THROWS_AS((void)sync_wait(t.wait()), std::runtime_error);
}

TEST_CASE("a wait that gives up leaves the body running, for the others and for later") {
  queue_executor queue;
  auto ends = make_oneshot<int>();
  auto t = plus_once(std::move(ends.receiver), 1);
  stop_source stop;
  auto mortal = context::child_of(context::root(), {.stop = &stop});
  std::error_code error;
  int got = 0;
  auto first = [&]() -> foreign {
    co_await hop_to(queue);
    detail::this_thread().ctx = mortal.get();
    auto r = co_await t.wait();
    error = r.error();
    detail::this_thread().ctx = nullptr;
  };
  auto second = [&]() -> foreign {
    co_await hop_to(queue);
    detail::this_thread().ctx = nullptr;
    got = co_await t;
  };
  auto one = first(), two = second();
  queue.run();
  stop.request();
  queue.run();
  CHECK(error == std::errc::operation_canceled);
  CHECK(one.done());
  CHECK_FALSE(two.done());
  ends.sender.send(1);
  queue.run();
  CHECK(got == 2);
  CHECK(sync_wait(t) == 2);
}

TEST_CASE("a body that nobody can ask for its result any more is cancelled, and its frame is freed at its end") {
  queue_executor queue;
  auto ends = make_oneshot<int>();
  {
    auto t = plus_once(std::move(ends.receiver), 1);
    t.start(queue);
    t.start(queue);  // once
    queue.run();
    CHECK(counted::live == 1);
  }
  CHECK(counted::live == 1);
  queue.run();
  CHECK(counted::live == 0);
  CHECK(ends.sender.is_closed());
}

TEST_CASE("a shared task that is never awaited does not run") {
  auto ends = make_oneshot<int>();
  {
    auto t = plus_once(std::move(ends.receiver), 1);
    auto copy = t;
    CHECK(counted::live == 1);
    t = {};
    CHECK(counted::live == 1);
    t = copy;
    copy = std::move(t);
  }
  CHECK(counted::live == 0);
}

TEST_CASE("a plain thread that comes first runs the body, and what that spawns") {
  auto body = []() -> shared_task<int> {
    auto add = [](int& to, int n) -> task<> {
      to += n;
      co_return;
    };
    int sum = 0;
    auto several = [&](scope& all) -> task<> {
      for (int n : {1, 2, 3}) spawn(all, add, std::ref(sum), n);
      co_return;
    };
    co_await in_scope(several);
    spawn([]() -> task<> { co_return; });
    co_return sum;
  };
  auto t = body();
  CHECK(sync_wait(t) == 6);
}

TEST_CASE("a shared task that awaits another, and both are awaited by several") {
  queue_executor queue;
  auto ends = make_oneshot<int>();
  auto base = plus_once(std::move(ends.receiver), 1);
  auto doubled = [](shared_task<int> of) -> shared_task<int> { co_return 2 * co_await of; };
  auto t = doubled(base);
  std::vector<int> got;
  auto wait = [&](shared_task<int> of) -> foreign {
    co_await hop_to(queue);
    got.push_back(co_await of);
  };
  auto one = wait(t), two = wait(base), three = wait(t);
  queue.run();
  ends.sender.send(4);
  queue.run();
  CHECK(got == std::vector<int>{5, 10, 10});
}

TEST_CASE("a target that refuses the body is told to those who await it") {
  struct closed final : spawn_target {
    queue_executor queue;
    executor& home() noexcept override { return queue; }
    context& parent_context() noexcept override { return context::root(); }
    std::error_code enroll(std::size_t) noexcept override {
      return std::make_error_code(std::errc::connection_refused);
    }
    void leave() noexcept override {}
    unhandled_handler on_unhandled() const noexcept override { return &abort_on_unhandled; }
  } target;
  int runs = 0;
  auto t = shared_text(runs);
  t.start(target);
  CHECK(t.is_ready());
  CHECK(sync_wait(t.wait()).error() == std::errc::connection_refused);
  CHECK_THROWS_AS(sync_wait(t), std::system_error);
  CHECK(runs == 0);
}

TEST_CASE("the frame of a shared task comes from the allocator that it is given") {
  std::size_t bytes = 0;
  {
    auto t = shared_from(std::allocator_arg, shared_tally<char>(bytes), 5);
    CHECK(bytes > 0);
    CHECK(sync_wait(t) == 5);
    CHECK(bytes > 0);
  }
  CHECK(bytes == 0);
}

TEST_CASE("misuse of a shared task aborts and names the remedy") {
  if (!detail::misuse_checks) return;
  expect_fatal([] { (void)shared_task<int>().is_ready(); }, "an empty shared_task was used");
  expect_fatal(
      [] {
        queue_executor queue;
        shared_task<int> t;
        auto body = [&]() -> shared_task<int> { co_return co_await t; };
        t = body();
        t.start(queue);
        queue.run();
      },
      "awaits itself");
  expect_fatal(
      [] {
        auto fails = []() -> shared_task<> {
          throw std::runtime_error("lost");
          co_return;
        };
        queue_executor queue;
        auto t = fails();
        t.start(queue);
        queue.run();
      },
      "lost");
  expect_fatal(
      [] {
        queue_executor queue;
        auto ends = make_oneshot<int>();
        auto t = plus_once(std::move(ends.receiver), 1);
        auto wait = [&]() -> foreign {
          co_await hop_to(queue);
          co_await t;
        };
        auto one = wait();
        queue.run();
        t = {};
      },
      "let a handle outlive the wait");
}
