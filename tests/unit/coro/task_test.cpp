#include <hocket/coro/task.hpp>

#include <hocket/core/context.hpp>
#include <hocket/core/sync_wait.hpp>

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

task<int> half(int n) { co_return n / 2; }
task<int> quarter(int n) { co_return co_await half(co_await half(n)); }
task<> nothing() { co_return; }
task<int> fails() {
  throw std::runtime_error("as told");
  co_return 1;
}

static_assert(!std::is_copy_constructible_v<task<int>> && std::is_nothrow_move_constructible_v<task<int>>);
static_assert(awaitable<task<int>> && awaitable<task<int>&>);
static_assert(detail::awaiter<task<int>>, "a fiber awaits a task through its erased handle");
static_assert(std::is_same_v<await_result_t<task<int&>>, int&>);
static_assert(detail::has_header<task<int>::promise_type>);

// What an awaiter sees of the coroutine that awaits it.
struct ask_header : detail::own_awaiter {
  detail::coroutine_header* seen = nullptr;
  std::coroutine_handle<> asker;
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
    seen = &handle.promise();
    asker = handle;
    return false;
  }
  detail::coroutine_header* await_resume() const noexcept { return seen; }
};

struct throws_on_move {
  throws_on_move() = default;
  throws_on_move(throws_on_move&&) { throw 3; }
};

}  // namespace

TEST_CASE("a task starts when it is awaited, and gives its result") {
  bool started = false;
  auto body = [&]() -> task<int> {
    started = true;
    co_return 7;
  };
  auto t = body();
  CHECK(t);
  CHECK_FALSE(started);
  CHECK(sync_wait(std::move(t)) == 7);
  CHECK(started);
  CHECK_FALSE(t);
  CHECK(sync_wait(quarter(8)) == 2);
}

TEST_CASE("a named task is awaited with and without std::move, and is empty after it") {
  auto outer = []() -> task<int> {
    auto one = half(10);
    auto two = half(20);
    int sum = co_await one + co_await std::move(two);
    CHECK_FALSE(one);
    CHECK_FALSE(two);
    co_return sum;
  };
  CHECK(sync_wait(outer()) == 15);
}

TEST_CASE("a result may be void, a reference, a value that only moves, or braces") {
  sync_wait(nothing());

  int target = 1;
  auto refer = [&]() -> task<int&> { co_return target; };
  auto through = [&]() -> task<int&> { co_return co_await refer(); };
  CHECK(&sync_wait(through()) == &target);

  auto make = [](int n) -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(n); };
  auto pass = [&]() -> task<std::unique_ptr<int>> { co_return co_await make(4); };
  CHECK(*sync_wait(pass()) == 4);

  auto braces = []() -> task<std::vector<int>> { co_return {1, 2, 3}; };
  CHECK(sync_wait(braces()).size() == 3);

  auto fixed = []() -> task<const std::string> { co_return "const"; };
  auto reads = [&]() -> task<std::size_t> { co_return (co_await fixed()).size(); };
  CHECK(sync_wait(reads()) == 5);

  std::string source = "taken";
  auto give = [&]() -> task<std::string&&> { co_return std::move(source); };
  auto take = [&]() -> task<std::string> { co_return co_await give(); };
  CHECK(sync_wait(take()) == "taken");
  CHECK(source.empty());
}

TEST_CASE("an exception keeps its type and identity through every co_await") {
  const void* thrown = nullptr;
  auto thrower = [&]() -> task<int> {
    auto error = std::make_exception_ptr(std::runtime_error("identity"));
    try {
      std::rethrow_exception(error);
    } catch (std::runtime_error& e) {
      thrown = &e;
      throw;
    }
    co_return 0;
  };
  auto middle = [&]() -> task<int> { co_return co_await thrower(); };
  auto outer = [&]() -> task<bool> {
    try {
      co_await middle();
    } catch (std::runtime_error& e) {
      co_return &e == thrown;
    }
    co_return false;
  };
  CHECK(sync_wait(outer()));
  CHECK_THROWS_WITH_AS(sync_wait(fails()), "as told", std::runtime_error);
  auto number = []() -> task<> {
    throw 5;
    co_return;
  };
  CHECK_THROWS_AS(sync_wait(number()), int);
}

TEST_CASE("a result that throws when it is moved out is an exception of the co_await") {
  auto make = []() -> task<throws_on_move> { co_return {}; };
  auto outer = [&]() -> task<int> {
    try {
      [[maybe_unused]] auto result = co_await make();
    } catch (int n) {
      co_return n;
    }
    co_return 0;
  };
  CHECK(sync_wait(outer()) == 3);
}

TEST_CASE("locals die at the end of the body, parameters before the parent goes on") {
  std::string order;
  struct mark {
    std::string* out;
    char name;
    mark(std::string& o, char n) : out(&o), name(n) {}
    mark(mark&& other) noexcept : out(std::exchange(other.out, nullptr)), name(other.name) {}
    ~mark() {
      if (out) *out += name;
    }
  };
  auto child = [&](mark) -> task<> {
    mark local(order, 'l');
    order += 'b';
    co_return;
  };
  auto parent = [&]() -> task<> {
    auto t = child(mark(order, 'p'));
    co_await std::move(t);
    order += 'g';
  };
  sync_wait(parent());
  CHECK(order == "blpg");
}

TEST_CASE("a child shares the context of its parent, and its header names who awaits it") {
  auto child = []() -> task<std::vector<void*>> {
    ask_header ask;
    auto* mine = co_await ask;
    auto& theirs = detail::header_of(mine->continuation.handle);
    CHECK(mine->kind == detail::coroutine_kind::task);
    CHECK(mine->ctx == theirs.ctx);
    CHECK(&detail::header_of(ask.asker) == mine);
    co_return {mine->continuation.handle.address(), theirs.continuation.handle.address()};
  };
  auto parent = [&]() -> task<> {
    ask_header ask;
    auto* mine = co_await ask;
    auto chain = co_await child();
    CHECK(chain[0] == ask.asker.address());
    CHECK(chain[1] == mine->continuation.handle.address());
    CHECK(detail::header_of(mine->continuation.handle).kind == detail::coroutine_kind::root);
  };
  auto own = context::child_of(context::root(), {.name = "test"});
  detail::running_scope running({nullptr}, own.get());
  sync_wait(parent());
}

TEST_CASE("a parent goes on where its child ended; the root of a sync_wait at home") {
  queue_executor first, second;
  std::vector<executor*> seen;
  auto child = [&]() -> task<> {
    co_await hop_to(second);
    seen.push_back(current_executor());
  };
  auto parent = [&]() -> task<> {
    seen.push_back(current_executor());
    co_await child();
    seen.push_back(current_executor());
  };
  auto root = [&]() -> foreign {
    co_await hop_to(first);
    co_await parent();
    seen.push_back(current_executor());
  };
  auto r = root();
  first.run();
  CHECK_FALSE(r.done());
  second.run();
  CHECK_FALSE(r.done());  // it is not moved by its child: it was posted home
  first.run();
  CHECK(r.done());
  CHECK(seen == std::vector<executor*>{&first, &second, &second, &first});
}

TEST_CASE("a task that ends on another thread wakes the thread that waits for it") {
  struct on_new_thread : detail::own_awaiter {
    std::thread* slot;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
      std::thread* const into = slot;  // the new thread may end the coroutine, and with it this awaiter, at once
      *into = std::thread([handle] {
        queue_executor there;
        detail::running_scope running({&there}, nullptr);
        handle.resume();
      });
    }
    void await_resume() const noexcept {}
    explicit on_new_thread(std::thread& t) : slot(&t) {}
  };
  std::thread other;
  auto body = [&]() -> task<std::thread::id> {
    co_await on_new_thread(other);
    co_return std::this_thread::get_id();
  };
  auto outer = [&]() -> task<std::thread::id> { co_return co_await body(); };
  const auto ended_on = sync_wait(outer());
  CHECK(ended_on == other.get_id());
  other.join();
}

TEST_CASE("a coroutine that is not hocket's awaits a task, with and without an executor") {
  int got = 0;
  auto root = [&]() -> foreign { got = co_await quarter(16); };
  CHECK(root().done());
  CHECK(got == 4);

  queue_executor queue;
  auto on_queue = [&]() -> foreign {
    co_await hop_to(queue);
    got = co_await quarter(40);
  };
  auto r = on_queue();
  queue.run();
  CHECK(r.done());
  CHECK(got == 10);
}

TEST_CASE("a task starts below an erased handle, as a fiber awaits it, and below a header alone") {
  std::coroutine_handle<> at;
  auto waits = [&]() -> foreign { co_await pause_at(at); };
  auto parent = waits();
  auto one = half(8);
  CHECK_FALSE(one.await_ready());
  one.await_suspend(std::coroutine_handle<>(parent.body)).resume();
  CHECK(parent.done());
  CHECK(one.await_resume() == 4);

  std::coroutine_handle<detail::coroutine_header> above;
  auto keep = [&]() -> task<> {
    ask_header ask;
    co_await ask;
    above = std::coroutine_handle<detail::coroutine_header>::from_promise(*ask.seen);
    co_await pause_at(at);
  };
  auto drive = [&]() -> foreign { co_await keep(); };
  auto root = drive();
  auto two = half(6);
  CHECK_FALSE(two.await_ready());
  two.await_suspend(above).resume();
  CHECK(root.done());
  CHECK(two.await_resume() == 3);
}

TEST_CASE("an unwanted task is discarded, with its parameters") {
  auto body = [](counted) -> task<> { co_return; };
  {
    auto t = body(counted{});
    CHECK(counted::live == 1);
    std::move(t).discard();
    CHECK(counted::live == 0);
    CHECK_FALSE(t);
    std::move(t).discard();
  }
  task<> empty;
  CHECK_FALSE(empty);
  empty = body(counted{});
  sync_wait(std::move(empty));
  CHECK(counted::live == 0);
}

TEST_CASE("a task that an exception keeps from being awaited is dropped in silence") {
  auto body = [](counted) -> task<> { co_return; };
  auto outer = [&]() -> task<> {
    auto t = body(counted{});
    throw 1;
    co_await std::move(t);
  };
  CHECK_THROWS_AS(sync_wait(outer()), int);
  CHECK(counted::live == 0);
}

TEST_CASE("misuse of a task aborts and names the remedy") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        task<int> t;
        sync_wait(std::move(t));
      },
      "call the coroutine function again");
  expect_fatal(
      [] {
        auto t = half(2);
        auto u = std::move(t);
        sync_wait(std::move(u));
        sync_wait(std::move(t));
      },
      "moved from or awaited before");
  expect_fatal(
      [] {
        auto t = half(2);
        sync_wait(std::move(t));
        sync_wait(std::move(t));
      },
      "moved from or awaited before");
}

TEST_CASE("level debug finds forgotten, doubly awaited and queued tasks") {
  if (!detail::debug_checks) return;
  expect_fatal([] { auto t = half(2); }, "destroyed without being awaited");
  expect_fatal(
      [] {
        auto t = half(2);
        t = half(3);
        std::move(t).discard();
      },
      "std::move(task).discard()");
  expect_fatal(
      [] {
        std::coroutine_handle<> at;
        auto body = [&]() -> task<> { co_await pause_at(at); };
        auto t = body();
        CHECK_FALSE(t.await_ready());
        auto first = [&]() -> foreign { co_await pause_at(at); };
        auto one = first(), two = first();
        t.await_suspend(std::coroutine_handle<>(one.body)).resume();
        t.await_ready();
      },
      "awaited by two coroutines at once");
  expect_fatal(
      [] {
        queue_executor queue;
        auto loop = []() -> task<> {
          for (;;) co_await nothing();
        };
        auto root = [&]() -> foreign {
          co_await hop_to(queue);
          co_await loop();
        };
        struct once final : executor {
          detail::runnable* last = nullptr;
          void post_from_outside(detail::runnable& work) noexcept override { last = &work; }
        } stops;
        auto r = root();
        detail::running_scope running({&stops}, nullptr);
        r.body.resume();  // comes back when the budget is spent, with something in `stops`
      },
      "stands in a run queue");
}
