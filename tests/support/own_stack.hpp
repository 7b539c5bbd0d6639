// The calling thread's stack, for tests that collect by the thread itself.
#pragma once
#include "support/roots.hpp"

#include <doctest/doctest.h>
#include <pthread.h>

namespace hocket_test {

// The calling thread's own stack, as the system has made it.
struct own_stack {
  const std::byte* low;
  const std::byte* base;
  own_stack() {
    pthread_attr_t attributes;
    void* first = nullptr;
    std::size_t size = 0;
    REQUIRE(pthread_getattr_np(pthread_self(), &attributes) == 0);
    REQUIRE(pthread_attr_getstack(&attributes, &first, &size) == 0);
    pthread_attr_destroy(&attributes);
    low = static_cast<std::byte*>(first);
    base = low + size;
  }
};

// A collection by this thread, where it stands.
[[gnu::noinline]] inline told_ranges look() {
  const own_stack own;
  const hocket::stopped_thread here = this_thread(own.low, own.base);
  return enumerate({&here, 1});
}

}  // namespace hocket_test
