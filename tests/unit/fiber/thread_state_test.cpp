// What the library keeps per thread is that of the thread that resumes, inside of a coroutine too. (Where fibers are
// threads of the operating system this does not go without saying.)
#include <hocket/context/switch.hpp>
#include <hocket/core/current.hpp>
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

#include <thread>

using namespace hocket;

TEST_CASE("a coroutine has its thread's state and id, however deep it is nested, before and after a yield") {
  coroutine<thread_state*()> outer{[](auto& self) {
    coroutine<thread_state*()> inner{[](auto& inner_self) {
      inner_self.yield(&this_thread());
      return &this_thread();
    }};
    CHECK(inner.resume() == &this_thread());
    self.yield(&this_thread());
    CHECK(inner.resume() == &this_thread());
    return &this_thread();
  }};
  CHECK(outer.resume() == &this_thread());
  CHECK(outer.resume() == &this_thread());
}

TEST_CASE("what a coroutine sets for its thread stays set when it has ended") {
  int value = 0;
  std::thread([&] {
    coroutine<void()>{[&](auto&) { current_slot(thread_slot::frame_memory) = &value; }}.resume();
    CHECK(current_slot(thread_slot::frame_memory) == &value);
  }).join();
  CHECK(current_slot(thread_slot::frame_memory) != &value);
}

TEST_CASE("an exit hook that a coroutine registers runs when the thread ends, not the coroutine") {
  struct noting : thread_exit_hook {
    bool ran = false;
  } hook;
  hook.run = [](thread_exit_hook& self) noexcept { static_cast<noting&>(self).ran = true; };
  std::thread([&] {
    coroutine<void()>{[&](auto&) { CHECK(at_thread_exit(hook)); }}.resume();
    CHECK_FALSE(hook.ran);
  }).join();
  CHECK(hook.ran);
}
