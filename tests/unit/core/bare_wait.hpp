// A wait without a coroutine, for tests that play every party by hand.
#pragma once
#include "unit/core/permit_source.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>

namespace hocket_test {

// A registration of a wait without a coroutine: what is posted is its runnable.
struct bare_wait {
  hocket::primitive::suspension wait;
  hocket::primitive::waiter entry;

  void list_at(permit_source& source, stepped_executor& on, hocket::context* ctx = nullptr) {
    hocket::detail::running_scope running({&on}, ctx);
    wait.arm({});
    REQUIRE_FALSE(source.take_or_list(wait, entry));
  }
  // As the coroutine would, but the current context stays as it was.
  hocket::detail::wait_end finish() noexcept {
    hocket::detail::running_scope running({nullptr}, nullptr);
    return wait.finish();
  }
};

}  // namespace hocket_test
