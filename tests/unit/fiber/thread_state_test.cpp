// What the library keeps per thread is that of the thread that resumes, inside of a coroutine too. (Where fibers are
// threads of the operating system this does not go without saying.)
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

#include <thread>

using namespace hocket;

TEST_CASE("a coroutine has its thread's state and id, however deep it is nested, before and after a yield") {
  coroutine<detail::thread_state*()> outer{[](auto& self) {
    coroutine<detail::thread_state*()> inner{[](auto& inner_self) {
      inner_self.yield(&detail::this_thread());
      return &detail::this_thread();
    }};
    CHECK(inner.resume() == &detail::this_thread());
    self.yield(&detail::this_thread());
    CHECK(inner.resume() == &detail::this_thread());
    return &detail::this_thread();
  }};
  CHECK(outer.resume() == &detail::this_thread());
  CHECK(outer.resume() == &detail::this_thread());
}

TEST_CASE("what a coroutine sets for its thread stays set when it has ended") {
  int value = 0;
  std::thread([&] {
    coroutine<void()>{[&](auto&) { detail::current_slot(detail::thread_slot::frame_memory) = &value; }}.resume();
    CHECK(detail::current_slot(detail::thread_slot::frame_memory) == &value);
  }).join();
  CHECK(detail::current_slot(detail::thread_slot::frame_memory) != &value);
}

TEST_CASE("an exit hook that a coroutine registers runs when the thread ends, not the coroutine") {
  struct noting : detail::thread_exit_hook {
    bool ran = false;
  } hook;
  hook.run = [](detail::thread_exit_hook& self) noexcept { static_cast<noting&>(self).ran = true; };
  std::thread([&] {
    coroutine<void()>{[&](auto&) { CHECK(detail::at_thread_exit(hook)); }}.resume();
    CHECK_FALSE(hook.ran);
  }).join();
  CHECK(hook.ran);
}
