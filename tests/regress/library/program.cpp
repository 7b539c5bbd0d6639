// FAULT 29, where a coroutine's code is in a shared library and hocket in the program: the library brings the cases of
// fault 29 along; here is that it asks for the same state as the program does.
#include "regress/library/library.hpp"

#include <doctest/doctest.h>
#include <thread>

TEST_CASE("a shared library finds the state of a thread that the program finds") {
  hocket::detail::thread_state* const here = hocket_test::found_by_library();
  CHECK(here == &hocket::detail::this_thread());
  hocket::detail::thread_state *theirs = nullptr, *ours = nullptr;
  std::thread([&] {
    theirs = hocket_test::found_by_library();
    ours = &hocket::detail::this_thread();
  }).join();
  CHECK(theirs == ours);
  CHECK(theirs != here);
}
