// Every misuse of a raw coroutine ends in a message that names the remedy.
#include <hocket/fiber/coroutine.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace hocket;
using hocket_test::expect_fatal;

TEST_CASE("resuming an empty coroutine") {
  expect_fatal([] { coroutine<void()>{}.resume(); }, "an empty coroutine was resumed");
  expect_fatal(
      [] {
        coroutine<void()> a{[](auto&) {}};
        coroutine<void()> b = std::move(a);
        a.resume();
      },
      "an empty coroutine was resumed");
}

TEST_CASE("resuming a finished coroutine, or asking its result twice") {
  expect_fatal(
      [] {
        coroutine<int()> c{{.name = "once"}, [](auto&) { return 1; }};
        c.resume();
        c.resume();
      },
      "a finished coroutine was resumed [coroutine once]");
}

TEST_CASE("resuming oneself, and resuming the coroutine that resumed") {
  expect_fatal(
      [] {
        coroutine<void()>* self = nullptr;
        coroutine<void()> c{[&](auto&) { self->resume(); }};
        self = &c;
        c.resume();
      },
      "a coroutine resumed itself");
  expect_fatal(
      [] {
        coroutine<void()>* first = nullptr;
        coroutine<void()> inner{[&](auto&) { first->resume(); }};
        coroutine<void()> outer{[&](auto&) { inner.resume(); }};
        first = &outer;
        outer.resume();
      },
      "a running coroutine was resumed");
}

TEST_CASE("resuming or destroying on another thread") {
  expect_fatal(
      [] {
        coroutine<void()> c{[](auto& self) { self.yield(); }};
        c.resume();
        std::thread([&] { c.resume(); }).join();
      },
      "resumed by a thread that did not create it");
  expect_fatal(
      [] {
        coroutine<void()> c{[](auto& self) { self.yield(); }};
        c.resume();
        std::thread([&] { c.reset(); }).join();
      },
      "destroyed by another thread");
}

TEST_CASE("yield outside of the coroutine: from its owner, from a nested coroutine") {
  expect_fatal(
      [] {
        coroutine<void()>::self* outside = nullptr;
        coroutine<void()> c{[&](auto& self) {
          outside = &self;
          self.yield();
        }};
        c.resume();
        outside->yield();
      },
      "yield was called outside of its coroutine");
  expect_fatal(
      [] {
        coroutine<void()> outer{[](auto& outer_self) {
          coroutine<void()> inner{[&](auto&) { outer_self.yield(); }};
          inner.resume();
        }};
        outer.resume();
      },
      "yield was called outside of its coroutine");
}

TEST_CASE("destroying a coroutine from inside") {
  expect_fatal(
      [] {
        coroutine<void()>* self = nullptr;
        coroutine<void()> c{[&](auto&) { self->reset(); }};
        self = &c;
        c.resume();
      },
      "a coroutine was destroyed while it runs");
}

TEST_CASE("releasing a finished coroutine") {
  expect_fatal(
      [] {
        coroutine<void()> c{[](auto&) {}};
        c.resume();
        static_cast<void>(c.release());
      },
      "a finished coroutine was resumed");
}

TEST_CASE("giving user data to, or releasing, an empty coroutine") {
  expect_fatal([] { coroutine<void()>{}.set_user_data(nullptr); }, "user data was given to an empty coroutine");
  expect_fatal([] { static_cast<void>(coroutine<void()>{}.release()); }, "an empty coroutine was resumed");
}
