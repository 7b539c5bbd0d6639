// What a debugger finds of frame memory.
#include "core/thread/frame_list.hpp"

#include <hocket/core/frame_memory.hpp>

#include <array>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;

namespace {

bool is_listed(const void* frame) {
  for (detail::frame_list& list : detail::frame_lists) {
    const primitive::locked guard(list.lock);
    for (std::uintptr_t at = ~list.first; at;) {
      const auto* link = reinterpret_cast<const detail::frame_link*>(at);
      if (link + 1 == frame) return true;
      at = ~link->next;
    }
  }
  return false;
}

constexpr std::size_t small = 100, largest = 2048, larger = 5000;

}  // namespace

TEST_CASE("frames are listed from the heap and back to it, of every size") {
  if (!detail::recycles_frames || !detail::debug_checks) return;
  trim_frame_memory();
  std::array<void*, 3> frames{};
  std::array<std::size_t, 3> sizes{small, largest, larger};
  for (std::size_t i = 0; i < 3; ++i) frames[i] = detail::allocate_frame(sizes[i]);
  for (const void* frame : frames) CHECK(is_listed(frame));
  for (std::size_t i = 0; i < 3; ++i) detail::release_frame(frames[i], sizes[i]);
  CHECK(is_listed(frames[0]));  // kept
  CHECK(is_listed(frames[1]));
  CHECK_FALSE(is_listed(frames[2]));
  trim_frame_memory();
  for (const void* frame : frames) CHECK_FALSE(is_listed(frame));
}

TEST_CASE("frames that come and go between others stay in order in their lists") {
  if (!detail::recycles_frames || !detail::debug_checks) return;
  std::array<void*, 200> frames{};
  for (void*& one : frames) one = detail::allocate_frame(larger);
  for (std::size_t i = 0; i < frames.size(); i += 3) detail::release_frame(frames[i], larger);
  for (std::size_t i = 0; i < frames.size(); ++i) CHECK(is_listed(frames[i]) == (i % 3 != 0));
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (i % 3 != 0) detail::release_frame(frames[i], larger);
  for (const void* frame : frames) CHECK_FALSE(is_listed(frame));
}

TEST_CASE("a frame that a thread takes along to its end is listed no more") {
  if (!detail::recycles_frames || !detail::debug_checks) return;
  trim_frame_memory();
  void* const frame = detail::allocate_frame(small);
  std::thread([&] { detail::release_frame(frame, small); }).join();
  CHECK_FALSE(is_listed(frame));
}

TEST_CASE("threads make and free large frames at once") {
  std::array<std::thread, 4> threads;
  for (auto& one : threads)
    one = std::thread([] {
      for (int i = 0; i < 2000; ++i) detail::release_frame(detail::allocate_frame(larger), larger);
    });
  for (auto& one : threads) one.join();
  void* const frame = detail::allocate_frame(larger);
  CHECK(is_listed(frame) == (detail::recycles_frames && detail::debug_checks));
  detail::release_frame(frame, larger);
}
