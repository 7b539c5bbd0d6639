// What the suites of groups await: tasks that give, fail, and wait.
#pragma once
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hocket_test { namespace when_suite {

using namespace hocket;
using namespace std::chrono_literals;

inline task<int> number(int n) { co_return n; }
inline task<std::unique_ptr<int>> boxed(int n) { co_return std::make_unique<int>(n); }
inline task<> note(int& seen) {
  ++seen;
  co_return;
}
inline task<int> counts(int& seen) { co_return ++seen; }
inline task<result<int>> fails(std::errc error) { co_return failure(error); }
inline task<int> throws(const char* what) {
  throw std::runtime_error(what);
  co_return 0;
}

// How a child ended that waited for an event.
struct witness {
  std::error_code error;
  bool waited = false, unwound = false, ended = false;
};
struct notes_unwinding {
  witness& of;
  ~notes_unwinding() { of.unwound = !of.ended; }
};
inline task<int> waits(basic_event<strength::shared>& gate, witness& of, int n = 0) {
  notes_unwinding note{of};
  of.waited = true;
  auto opened = co_await gate.wait();
  of.error = opened ? std::error_code() : opened.error();
  of.ended = true;
  co_return n;
}
inline task<int> waits_or_throws(basic_event<strength::shared>& gate, int n) {
  co_await or_throw(gate.wait());
  co_return n;
}

}  // namespace when_suite

}  // namespace hocket_test
