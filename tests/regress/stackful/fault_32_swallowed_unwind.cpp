// FAULT 32: a forced unwind that catch (...) swallows, that meets noexcept, or whose destructors suspend
// (boost.context#337). Each ends in a message that names the coroutine.
#include <hocket/fiber/coroutine.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

template <class Body>
void destroy_while_suspended(Body body) {
  coroutine<void()> c{{.name = "victim"}, body};
  c.resume();
}

}  // namespace

TEST_CASE("fault 32: swallowing the unwind") {
  expect_fatal(
      [] {
        destroy_while_suspended([](auto& self) {
          try {
            self.yield();
          } catch (...) {
          }
        });
      },
      "swallowed the exception that unwinds it [coroutine victim]");
}

TEST_CASE("fault 32: replacing the unwind by another exception") {
  expect_fatal(
      [] {
        destroy_while_suspended([](auto& self) {
          try {
            self.yield();
          } catch (...) {
            throw std::runtime_error("another");
          }
        });
      },
      "swallowed the exception that unwinds it [coroutine victim]");
}

TEST_CASE("fault 32: unwinding through noexcept") {
  expect_fatal(
      [] {
        destroy_while_suspended([](auto& self) {
          auto strict = [&]() noexcept { self.yield(); };
          strict();
        });
      },
      "met a function that lets no exception pass [coroutine victim]");
}

TEST_CASE("fault 32: a destructor that suspends during the unwind") {
  expect_fatal(
      [] {
        destroy_while_suspended([](auto& self) {
          struct yields {
            coroutine<void()>::self& self;
            ~yields() { self.yield(); }
          } last{self};
          self.yield();
        });
      },
      "code suspended while its coroutine was being destroyed [coroutine victim]");
}

TEST_CASE("fault 32: uncaught_exceptions() is right after an unwind") {
  try {
    throw 1;
  } catch (int) {
    destroy_while_suspended([](auto& self) { self.yield(); });
    CHECK(std::uncaught_exceptions() == 0);
    CHECK_THROWS_AS(throw, int);
  }
}
