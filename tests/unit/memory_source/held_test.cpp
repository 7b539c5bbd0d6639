// What a collector finds in the blocks of a memory_source: all that coroutines and primitives hold on no stack.
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>

#include "unit/core/script.hpp"
#include "unit/memory_source/blocks.hpp"

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t many = 1000;

task<char*> give(char* what) { co_return what; }
char* give_by_fiber(char* what) { return what; }

// Keeps an address and `Bytes` of others in a frame, until the event.
template <std::size_t Bytes>
task<> keep(const hidden& what, event& bell) {
  [[maybe_unused]] char* volatile kept[Bytes / sizeof(char*)] = {};
  kept[0] = what.get();
  [[maybe_unused]] auto heard = co_await bell.wait();
  kept[0] = nullptr;
}

script receive_from(channel<char*>& items) { [[maybe_unused]] auto got = co_await items.receive(); }

// Sends all of them, and receives them. The channel holds what was sent.
template <class Channel>
void check_items(Channel&& items) {
  const std::vector<hidden> objects(many);
  for (const hidden& one : objects) REQUIRE(items.try_send(one.get()));
  for (const hidden& one : objects) CHECK(blocks::holding(one) == 1);
  for (const hidden& one : objects) CHECK(items.try_receive().value() == one.get());
}

}  // namespace

TEST_CASE("a call that was spawned and has not begun is found, and its frame is gone when it has ended") {
  const blocks::none_left check;
  hidden by_task, by_fiber;
  loop lp;
  {
    auto first = spawn(lp, give, by_task.get());
    auto second = spawn(lp, give_by_fiber, by_fiber.get());
    CHECK(blocks::holding(by_task) >= 1);
    CHECK(blocks::holding(by_fiber) >= 1);
    lp.run();
  }
  CHECK(blocks::holding(by_task) == 0);
  CHECK(blocks::holding(by_fiber) == 0);
}

TEST_CASE("a job that was posted is found until it has run") {
  const blocks::none_left check;
  hidden object;
  loop lp;
  static_cast<void>(post(lp, [kept = object.get()] { static_cast<void>(kept); }));
  CHECK(blocks::holding(object) == 1);
  lp.run();
  CHECK(blocks::holding(object) == 0);
}

TEST_CASE("a result that nobody has joined is found") {
  const blocks::none_left check;
  hidden by_task, by_fiber;
  loop lp;
  {
    auto first = spawn(lp, [&]() -> task<char*> { co_return by_task.get(); });
    auto second = spawn(lp, [&] { return by_fiber.get(); });
    lp.run();
    CHECK(blocks::holding(by_task) == 1);
    CHECK(blocks::holding(by_fiber) == 1);
    CHECK(sync_wait(std::move(first)) == by_task.get());
    CHECK(sync_wait(std::move(second)) == by_fiber.get());
  }
  CHECK(blocks::holding(by_task) == 0);
  CHECK(blocks::holding(by_fiber) == 0);
}

TEST_CASE("the frames of tasks and generators are found, small and large") {
  const blocks::none_left check;
  hidden small, large, yielded;
  loop lp;
  event bell;
  spawn(lp, keep<8>, std::cref(small), std::ref(bell));
  spawn(lp, keep<8192>, std::cref(large), std::ref(bell));
  auto numbers = [](const hidden& what) -> generator<int> {
    [[maybe_unused]] char* volatile kept = what.get();
    co_yield 1;
    kept = nullptr;
  }(yielded);
  CHECK(*numbers.begin() == 1);
  lp.run_for(duration::zero());
  CHECK(blocks::holding(small) == 1);
  CHECK(blocks::holding(large) == 1);
  CHECK(blocks::holding(yielded) == 1);
  CHECK(blocks::larger_than(8192) == 1);
  bell.set();
  lp.run();
  CHECK(blocks::holding(small) == 0);
  CHECK(blocks::holding(large) == 0);
  CHECK(blocks::larger_than(8192) == 0);
}

TEST_CASE("frames that were released are found no more") {
  const blocks::none_left check;
  std::vector<hidden> objects(many);
  loop lp;
  event bell;
  for (const hidden& one : objects) spawn(lp, keep<8>, std::cref(one), std::ref(bell));
  lp.run_for(duration::zero());
  std::size_t found = 0;
  for (const hidden& one : objects) found += blocks::holding(one);
  CHECK(found == many);
  lp.cancel_all();
  lp.run();
  found = 0;
  for (const hidden& one : objects) found += blocks::holding(one);
  CHECK(found == 0);
  CHECK(frame_memory_usage().held == 0);
  CHECK(frame_memory_usage().shared == 0);
}

TEST_CASE("a thread that ends leaves no frame") {
  const blocks::none_left check;
  std::thread([] {
    loop lp;
    for (int i = 0; i < 100; ++i) spawn(lp, give, nullptr);
    lp.run();
    CHECK(frame_memory_usage().held == 0);
  }).join();
  runtime rt({.workers = 2});
  for (std::size_t i = 0; i < many; ++i) static_cast<void>(sync_wait(spawn(rt, give, nullptr)));
}

TEST_CASE("the items of a channel are found, of any kind") {
  const blocks::none_left check;
  check_items(channel<char*>(many));
  check_items(channel<char*>(channel<char*>::unbounded));
  check_items(spsc_channel<char*>(many));
}

TEST_CASE("an unbounded channel keeps no block that was emptied") {
  const blocks::none_left check;
  const std::size_t before = blocks::count();
  hidden object;
  channel<char*> items(channel<char*>::unbounded);
  for (std::size_t i = 0; i < many; ++i) REQUIRE(items.try_send(object.get()));
  CHECK(blocks::count() > before + 1);
  for (std::size_t i = 0; i < many; ++i) REQUIRE(items.try_receive());
  CHECK(blocks::count() == before + 1);
}

TEST_CASE("the items of a broadcast are found") {
  const blocks::none_left check;
  hidden object;
  broadcast<char*> news(4);
  static_cast<void>(news.send(object.get()));
  CHECK(blocks::holding(object) == 1);
}

TEST_CASE("an item that waits with its sender is found") {
  const blocks::none_left check;
  hidden object;
  channel<char*> meeting(0);
  loop lp;
  spawn(lp, [&]() -> task<> { [[maybe_unused]] auto sent = co_await meeting.send(object.get()); });
  lp.run_for(duration::zero());
  CHECK(blocks::holding(object) >= 1);
  CHECK(meeting.try_receive().value() == object.get());
  lp.run();
  CHECK(blocks::holding(object) == 0);
}

TEST_CASE("items that come back from receivers that are destroyed are found until they are received") {
  const blocks::none_left check;
  hidden first, second;
  struct {
    channel<char*> items{4};
    // How many words of it are the address.
    std::size_t holds(const hidden& what) const {
      std::uintptr_t words[sizeof items / sizeof(std::uintptr_t)];
      std::memcpy(words, static_cast<const void*>(&items), sizeof words);
      return static_cast<std::size_t>(
          std::count(std::begin(words), std::end(words), reinterpret_cast<std::uintptr_t>(what.get())));
    }
  } all;
  {
    stepped_executor on;
    auto one = receive_from(all.items), other = receive_from(all.items);
    one.start(on);
    other.start(on);
    on.run();
    REQUIRE(all.items.try_send(first.get()));
    REQUIRE(all.items.try_send(second.get()));
  }
  CHECK(all.holds(first) + all.holds(second) == 1);
  CHECK(blocks::holding(first) + blocks::holding(second) == 1);
  CHECK(all.items.try_receive());
  CHECK(all.items.try_receive());
  CHECK(all.holds(first) + all.holds(second) == 0);
  CHECK(blocks::holding(first) + blocks::holding(second) == 0);
}

TEST_CASE("a value on its way, of a coroutine's context or of a fiber is found") {
  const blocks::none_left check;
  hidden sent, bound, local;
  static context_local<char*> of_context;
  static fiber_local<char*> of_fiber;
  loop lp;
  event bell;
  {
    auto [tx, rx] = make_oneshot<char*>();
    CHECK(tx.send(sent.get()));
    CHECK(blocks::holding(sent) == 1);
  }
  spawn(lp, [&]() -> task<> { co_await of_context.with(bound.get(), keep<8>(sent, bell)); });
  spawn(lp, [&] {
    *of_fiber = local.get();
    [[maybe_unused]] auto heard = await(bell.wait());
  });
  lp.run_for(duration::zero());
  CHECK(blocks::holding(bound) >= 1);
  CHECK(blocks::holding(local) >= 1);
  bell.set();
  lp.run();
  CHECK(blocks::holding(bound) == 0);
  CHECK(blocks::holding(local) == 0);
}

TEST_CASE("the results of the children of a group are found while others run") {
  const blocks::none_left check;
  hidden object;
  loop lp;
  event bell;
  auto late = [&]() -> task<char*> {
    [[maybe_unused]] auto heard = co_await bell.wait();
    co_return nullptr;
  };
  auto group = spawn(lp, [&]() -> task<bool> {
    std::vector<task<char*>> children;
    children.push_back([](const hidden& what) -> task<char*> { co_return what.get(); }(object));
    children.push_back(late());
    const auto results = co_await when_all(std::move(children));
    co_return results[0] == object.get();
  });
  lp.run_for(duration::zero());
  CHECK(blocks::holding(object) >= 1);
  bell.set();
  lp.run();
  CHECK(sync_wait(std::move(group)));
  CHECK(blocks::holding(object) == 0);
}

TEST_CASE("what a task manager knows of its tasks is found: data and replies") {
  const blocks::none_left check;
  hidden data, reply;
  loop lp;
  task_manager tm(lp);
  {
    auto promised = tm.expect<char*>({.data = data.get()});
    CHECK(blocks::holding(data) >= 1);
    CHECK(tm.complete(promised.id(), reply.get()) == std::error_code{});
    CHECK(blocks::holding(data) == 0);
    CHECK(blocks::holding(reply) == 1);
  }
  CHECK(blocks::holding(reply) == 0);
}

TEST_CASE("what the handler of a server holds is found") {
  const blocks::none_left check;
  hidden object;
  loop lp;
  {
    auto handler = [kept = object.get()](tcp::stream) -> task<> { return kept ? task<>{} : task<>{}; };
    auto server = tcp::serve(lp, "127.0.0.1:0", std::move(handler));
    REQUIRE(server);
    CHECK(blocks::holding(object) == 1);
  }
  CHECK(blocks::holding(object) == 0);
}
