// Tasks that a foreign coroutine awaits wait beside the coroutine that started them. The two have one room for their
// waits (core/wait/seam/wait_room.hpp), and so must not be resumed by two workers at once.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/latch.hpp>

#include "stress/rounds.hpp"
#include "support/detached.hpp"

using namespace hocket;
using hocket_test::detached;

namespace {

constexpr int count = hocket_test::quick ? 2'000 : 50'000, besides = 3;

task<int> receive_one(channel<int>& from) { co_return *co_await from.receive(); }
task<> send(channel<int>& to, int number) {
  for (int i = 0; i < number; ++i) (void)co_await to.send(i);
}

// What waits beside: `besides` foreign coroutines, which receive `count` items each.
struct company {
  channel<int> items{0};
  latch over{besides};

  detached receive_all() {
    for (int i = 0; i < count; ++i) (void)co_await receive_one(items);
    over.count_down();
  }
};

}  // namespace

TEST_CASE("tasks that foreign coroutines await wait beside the coroutine that started them") {
  runtime rt({.workers = 4});
  auto whole = spawn(rt, [&]() -> task<bool> {
    channel<int> own(0);
    company others;
    auto for_own = spawn(rt, send, std::ref(own), count);
    auto for_others = spawn(rt, send, std::ref(others.items), count * besides);
    for (int i = 0; i < besides; ++i) others.receive_all();
    bool in_order = true;
    for (int i = 0; i < count; ++i) in_order = *co_await own.receive() == i && in_order;
    (void)co_await others.over.wait();
    (void)co_await for_own.join();
    (void)co_await for_others.join();
    co_return in_order;
  });
  CHECK(sync_wait(whole));
}

TEST_CASE("tasks that foreign coroutines await wait beside a migratable fiber, which awaits tasks") {
  runtime rt({.workers = 4});
  auto whole = spawn(rt, {.migratable = true}, [&] {
    channel<int> own(0);
    company others;
    auto for_own = spawn(rt, send, std::ref(own), count);
    auto for_others = spawn(rt, send, std::ref(others.items), count * besides);
    for (int i = 0; i < besides; ++i) others.receive_all();
    bool in_order = true;
    for (int i = 0; i < count; ++i) in_order = await(receive_one(own)) == i && in_order;
    (void)await(others.over.wait());
    (void)await(for_own.join());
    (void)await(for_others.join());
    return in_order;
  });
  CHECK(sync_wait(whole));
}
