// Tasks that a foreign coroutine awaits wait beside the coroutine in whose context they were started. The two have one
// room for their waits (core/detail/wait_room.hpp), and so must not be resumed by two workers at once.
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/latch.hpp>

#include <doctest/doctest.h>

#include "stress/rounds.hpp"

#include <exception>

using namespace hocket;

namespace {

// A foreign coroutine that nobody awaits.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

task<int> receive_one(channel<int>& from) { co_return *co_await from.receive(); }

}  // namespace

TEST_CASE("tasks that foreign coroutines await wait beside the coroutine that started them") {
  constexpr int count = hocket_test::quick ? 2'000 : 50'000, besides = 3;
  runtime rt({.workers = 4});
  auto whole = spawn(rt, [&]() -> task<bool> {
    channel<int> own(0), others(0);
    latch over(besides);
    auto send = [](channel<int>& to, int number) -> task<> {
      for (int i = 0; i < number; ++i) (void)co_await to.send(i);
    };
    auto for_own = spawn(rt, send, std::ref(own), count);
    auto for_others = spawn(rt, send, std::ref(others), count * besides);
    auto beside = [&]() -> detached {
      for (int i = 0; i < count; ++i) (void)co_await receive_one(others);
      over.count_down();
    };
    for (int i = 0; i < besides; ++i) beside();
    bool in_order = true;
    for (int i = 0; i < count; ++i) in_order = *co_await own.receive() == i && in_order;
    (void)co_await over.wait();
    (void)co_await for_own.join();
    (void)co_await for_others.join();
    co_return in_order;
  });
  CHECK(sync_wait(whole));
}
