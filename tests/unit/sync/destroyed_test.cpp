// A primitive that is destroyed while somebody waits for it.
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

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
  if (!debug_checks) return;
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
  expect_fatal_end(one, [&] { return one->wait(); }, "an event was destroyed while somebody waits");
}

TEST_CASE("an auto-reset event that is destroyed while somebody waits for it is fatal") {
  std::optional<auto_reset_event> one(std::in_place);
  expect_fatal_end(one, [&] { return one->wait(); }, "an auto-reset event was destroyed while somebody waits");
}

TEST_CASE("a semaphore that is destroyed while somebody waits for permits is fatal") {
  std::optional<semaphore> one(std::in_place, 0u);
  expect_fatal_end(one, [&] { return one->acquire(); }, "a semaphore was destroyed while somebody waits");
}

TEST_CASE("a channel that is destroyed while somebody receives is fatal") {
  std::optional<channel<int>> one(std::in_place, 1u);
  expect_fatal_end(one, [&] { return one->receive(); }, "a channel was destroyed while somebody waits");
}

TEST_CASE("a mutex and a shared mutex that are destroyed while somebody has them are fatal") {
  if (!debug_checks) return;
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
