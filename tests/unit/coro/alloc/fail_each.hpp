// FAULTS 63: each allocation of a call fails once. std::bad_alloc comes out of the call, and nothing leaks.
#pragma once
#include <hocket/core/frame_memory.hpp>

#include "support/alloc.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <new>

namespace hocket_test {

// `call` gives `expected` where nothing fails, and allocates at least so often when no frames are kept. doctest
// allocates as well: nothing is checked while a watch is on.
template <class Call>
void fail_each_allocation(Call call, int expected, std::size_t at_least) {
  CHECK(call() == expected);  // the thread's frame memory is made
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    hocket::trim_frame_memory();
    int given = 0;
    bool thrown = false;
    {
      allocation_watch watch(failing);
      try {
        given = call();
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      failed = watch.has_failed();
    }
    CHECK(thrown == failed);
    CHECK(given == (failed ? 0 : expected));
    CHECK(counted::live == 0);
  }
  CHECK(failing > at_least);
}

}  // namespace hocket_test
