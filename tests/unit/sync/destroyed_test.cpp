// A primitive that is destroyed while somebody waits for it.
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/condition.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/sync/watch.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <deque>
#include <doctest/doctest.h>
#include <optional>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

template <class Begin>
script wait_for(Begin begin) {
  [[maybe_unused]] auto got = co_await begin();
}

// One or two wait for what `begin` begins to wait for.
template <class Primitive, class Begin>
void expect_fatal_end(Primitive& of, Begin begin, const std::string& message) {
  if (!detail::debug_checks) return;
  for (int waiting : {1, 2}) {
    CAPTURE(waiting);
    expect_fatal(
        [&] {
          stepped_executor on;
          auto first = wait_for(begin);
          auto second = wait_for(begin);
          first.start(on);
          if (waiting == 2) second.start(on);
          on.run();
          of.reset();
        },
        message);
  }
}

}  // namespace

TEST_CASE("an event that is destroyed while somebody waits for it is fatal") {
  std::optional<event> one(std::in_place);
  expect_fatal_end(one, [&] { return one->wait(); }, "an event was destroyed while it has a waiter");
}

TEST_CASE("an auto-reset event that is destroyed while somebody waits for it is fatal") {
  std::optional<auto_reset_event> one(std::in_place);
  expect_fatal_end(one, [&] { return one->wait(); }, "an auto-reset event was destroyed while it has a waiter");
}

TEST_CASE("a semaphore that is destroyed while somebody waits for permits is fatal") {
  std::optional<semaphore> one(std::in_place, 0u);
  expect_fatal_end(one, [&] { return one->acquire(); }, "a semaphore was destroyed while it has a waiter");
}

TEST_CASE("a channel that is destroyed while somebody receives is fatal") {
  std::optional<channel<int>> one(std::in_place, 1u);
  expect_fatal_end(one, [&] { return one->receive(); }, "a channel was destroyed while it has a waiter");
}

TEST_CASE("a channel that is destroyed while somebody sends is fatal, with places and without") {
  for (const std::size_t places : {0u, 1u}) {
    CAPTURE(places);
    std::optional<channel<int>> one(std::in_place, places);
    if (places != 0) CHECK(one->try_send(0));
    expect_fatal_end(one, [&] { return one->send(1); }, "a channel was destroyed while it has a waiter");
  }
}

TEST_CASE("a watch that is destroyed while somebody waits for its next value is fatal") {
  std::optional<watch<int>> one(std::in_place, 0);
  std::deque<watch<int>::receiver> receivers;
  auto receive_next = [&] {
    auto& mine = receivers.emplace_back(one->subscribe());
    static_cast<void>(mine.try_receive());
    return mine.receive();
  };
  expect_fatal_end(one, receive_next, "a watch or a broadcast was destroyed while it has a waiter");
}

TEST_CASE("a condition that is destroyed while somebody waits for it is fatal") {
  mutex m;
  std::deque<mutex::guard> guards;
  std::optional<condition> one(std::in_place);
  auto wait = [&] { return one->wait(guards.emplace_back(m.try_lock())); };
  expect_fatal_end(one, wait, "a condition was destroyed while it has a waiter");
}

TEST_CASE("a monitor that is destroyed while somebody waits in it is fatal") {
  std::deque<monitor::guard> guards;
  std::optional<monitor> one(std::in_place);
  auto wait = [&] { return one->wait(guards.emplace_back(one->try_enter())); };
  expect_fatal_end(one, wait, "a condition was destroyed while it has a waiter");
}

TEST_CASE("a mutex, a shared mutex and a monitor that are destroyed while somebody has them are fatal") {
  if (!detail::debug_checks) return;
  expect_fatal(
      [] {
        std::optional<mutex> one(std::in_place);
        auto held = one->try_lock();
        one.reset();
      },
      "a mutex was destroyed while it is held");
  expect_fatal(
      [] {
        std::optional<shared_mutex> one(std::in_place);
        auto read = one->try_lock_shared();
        one.reset();
      },
      "a shared mutex was destroyed while it is held");
  expect_fatal(
      [] {
        std::optional<monitor> one(std::in_place);
        auto in = one->try_enter();
        one.reset();
      },
      "a monitor was destroyed while a coroutine is in it");
}

TEST_CASE("a primitive whose waits were all ended by others may be destroyed") {
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  std::optional<event> opens(std::in_place);
  std::optional<auto_reset_event> lets_in(std::in_place);
  std::optional<semaphore> permits(std::in_place, 0u);
  stepped_executor on;
  auto a = wait_for([&] { return opens->wait(); }), b = wait_for([&] { return opens->wait(); });
  auto c = wait_for([&] { return lets_in->wait(); }), d = wait_for([&] { return lets_in->wait(); });
  auto e = wait_for([&] { return permits->acquire(); });
  for (script* one : {&a, &b, &c, &d, &e}) one->start(on, ctx.get());
  on.run();
  stop.request();
  on.run();
  for (script* one : {&a, &b, &c, &d, &e}) CHECK(one->done());
  opens.reset();
  lets_in.reset();
  permits.reset();
}
