#include <hocket/core/frame_memory.hpp>

#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/task.hpp>

#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

task<int> child(int n) { co_return n; }
task<int> sum(int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += co_await child(i);
  co_return total;
}

// Every case starts with a thread that keeps nothing.
struct fresh {
  fresh() { trim_frame_memory(); }
  ~fresh() {
    frame_memory_limit(default_frame_memory_limit);
    trim_frame_memory();
  }
};

// Frames of one size, given back in order.
struct some_frames {
  std::size_t bytes;
  std::vector<void*> frames;
  some_frames(std::size_t size, int n) : bytes(size) {
    for (int i = 0; i < n; ++i) frames.push_back(allocate_frame(bytes));
  }
  ~some_frames() {
    for (void* f : frames) release_frame(f, bytes);
  }
};

}  // namespace

TEST_CASE("under a sanitizer nothing is kept") {
  if (detail::recycles_frames) return;
  CHECK(sync_wait(sum(10)) == 45);
  CHECK(frame_memory_usage().held == 0);
  CHECK(frame_memory_usage().hits == 0);
}

TEST_CASE("a loop of awaits takes one frame from the heap") {
  if (!detail::recycles_frames) return;
  fresh start;
  const auto before = frame_memory_usage();
  CHECK(sync_wait(sum(1000)) == 499500);
  const auto after = frame_memory_usage();
  CHECK(after.misses - before.misses <= 3);  // the child, sum, the root of sync_wait
  CHECK(after.hits - before.hits >= 999);
}

TEST_CASE("frames come back last in, first out, within their size class") {
  if (!detail::recycles_frames) return;
  fresh start;
  void* a = allocate_frame(100);
  void* b = allocate_frame(128);
  void* c = allocate_frame(129);
  release_frame(a, 100);
  release_frame(b, 128);
  release_frame(c, 129);
  CHECK(frame_memory_usage().held == 128 + 128 + 192);
  CHECK(allocate_frame(65) == b);
  CHECK(allocate_frame(127) == a);
  CHECK(allocate_frame(150) == c);
  CHECK(frame_memory_usage().held == 0);
  release_frame(b, 65);
  release_frame(a, 127);
  release_frame(c, 150);
}

TEST_CASE("larger frames than the classes go to the heap") {
  fresh start;
  void* big = allocate_frame(detail::frame_step * detail::frame_classes + 1);
  release_frame(big, detail::frame_step * detail::frame_classes + 1);
  CHECK(frame_memory_usage().held == 0);
}

TEST_CASE("a thread keeps no more than its limit, whatever the sizes") {
  if (!detail::recycles_frames) return;
  fresh start;
  CHECK(frame_memory_limit(64 * 1024) == default_frame_memory_limit);
  CHECK(frame_memory_limit() == 64 * 1024);
  for (std::size_t bytes : {64u, 512u, 2048u, 64u, 1024u}) {
    some_frames many(bytes, 4000);
  }
  const auto held = frame_memory_usage().held;
  CHECK(held <= 64 * 1024);
  CHECK(held > 60 * 1024);
}

TEST_CASE("room that one size does not use goes to another") {
  if (!detail::recycles_frames) return;
  fresh start;
  frame_memory_limit(64 * 1024);
  {
    some_frames many(64, 1024);
  }
  CHECK(frame_memory_usage().held == 64 * 1024);
  some_frames out(64, 1024);  // all 64 KiB in use again: the limit leaves that much for others
  {
    some_frames other(2048, 32);
  }
  CHECK(frame_memory_usage().held == 64 * 1024);
}

TEST_CASE("a limit of zero keeps nothing, trim gives everything back") {
  if (!detail::recycles_frames) return;
  fresh start;
  {
    some_frames many(256, 10);
  }
  CHECK(frame_memory_usage().held == 2560);
  CHECK(trim_frame_memory() == 2560);
  CHECK(trim_frame_memory() == 0);
  CHECK(frame_memory_usage().held == 0);
  {
    some_frames many(256, 10);
  }
  CHECK(frame_memory_usage().held == 2560);
  frame_memory_limit(0);
  CHECK(frame_memory_usage().held == 0);
  {
    some_frames many(256, 10);
  }
  CHECK(frame_memory_usage().held == 0);
}

TEST_CASE("a frame stays with the thread that frees it") {
  if (!detail::recycles_frames) return;
  fresh start;
  void* travels = allocate_frame(300);
  std::size_t held_there = 0;
  std::thread([&] {
    release_frame(travels, 300);
    held_there = frame_memory_usage().held;
  }).join();
  CHECK(held_there == 320);
  CHECK(frame_memory_usage().held == 0);
}

TEST_CASE("a thread uses frames to its very end") {
  struct late {
    void* frame = nullptr;
    ~late() {
      if (!frame) return;
      release_frame(frame, 200);
      release_frame(allocate_frame(200), 200);
      CHECK(frame_memory_usage().held == 0);
    }
  };
  std::thread([] {
    static thread_local late first;  // made before the frame memory, so destroyed after it
    first.frame = nullptr;
    first.frame = allocate_frame(200);
    some_frames kept(200, 5);
  }).join();
}
