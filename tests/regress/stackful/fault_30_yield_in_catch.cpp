// FAULT 30: a yield inside catch mixes up the exceptions of two coroutines (silk#98, boost.context#302, userver#1247,
// rethinkdb#153): the ABI keeps them per thread.
#include <hocket/context/detail/exception_globals.hpp>
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace hocket;

namespace {

std::string rethrown() {
  try {
    throw;
  } catch (const std::exception& e) {
    return e.what();
  } catch (int value) {
    return "int " + std::to_string(value);
  }
}

coroutine<std::string()> handler(std::string text) {
  return coroutine<std::string()>{[text](auto& self) {
    try {
      throw std::runtime_error(text);
    } catch (...) {
      self.yield(rethrown());
      try {
        throw 7;
      } catch (...) {
        self.yield(rethrown());
      }
      return rethrown() + " uncaught " + std::to_string(std::uncaught_exceptions());
    }
  }};
}

}  // namespace

TEST_CASE("fault 30: two coroutines that suspend inside catch keep their own exceptions") {
  auto a = handler("a"), b = handler("b");
  CHECK(a.resume() == "a");
  CHECK(b.resume() == "b");
  CHECK(detail::current_exception_globals().empty());
  CHECK(a.resume() == "int 7");
  CHECK(b.resume() == "int 7");
  CHECK(a.resume() == "a uncaught 0");
  CHECK(b.resume() == "b uncaught 0");
}

TEST_CASE("fault 30: the resumer's own exception is not seen by the coroutine and is there afterwards") {
  auto a = handler("a");
  try {
    throw std::runtime_error("resumer");
  } catch (const std::runtime_error&) {
    CHECK(a.resume() == "a");
    CHECK(rethrown() == "resumer");
    CHECK(a.resume() == "int 7");
    CHECK(a.resume() == "a uncaught 0");
    CHECK(rethrown() == "resumer");
  }
  CHECK(detail::current_exception_globals().empty());
}

TEST_CASE("fault 30: a coroutine resumed by a destructor during unwinding sees no exception in flight") {
  coroutine<int()> counts{[](auto& self) {
    self.yield(std::uncaught_exceptions());
    return std::uncaught_exceptions();
  }};
  struct resumes {
    coroutine<int()>& c;
    int seen = -1;
    int& out;
    ~resumes() { out = c.resume(); }
  };
  int seen = -1;
  try {
    resumes r{counts, -1, seen};
    throw 1;
  } catch (int) {
    CHECK(seen == 0);
    CHECK(std::uncaught_exceptions() == 0);
    CHECK(counts.resume() == 0);
  }
}

TEST_CASE("fault 30: destroyed while suspended in catch, the exception is freed and the globals are clean") {
  static int alive;
  alive = 0;
  struct counted {
    counted() { ++alive; }
    counted(const counted&) { ++alive; }
    ~counted() { --alive; }
  };
  {
    coroutine<void()> c{[](auto& self) {
      try {
        throw counted();
      } catch (const counted&) {
        self.yield();
      }
    }};
    c.resume();
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
  CHECK(detail::current_exception_globals().empty());
}
