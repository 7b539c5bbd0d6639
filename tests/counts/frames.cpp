// What a coroutine takes in memory: the frames of tasks that wait never, once, twice, four times, and the object that
// spawn makes for a task. A frame is a multiple of 16 bytes here, with two parameters that say where it comes from.
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/time/within.hpp>

#include "counting.hpp"

#include <chrono>
#include <cstdio>
#include <memory>

namespace counts {
namespace {

using namespace hocket;
using namespace std::chrono_literals;

std::size_t last_frame = 0;

template <class T>
struct noting {
  using value_type = T;
  noting() = default;
  template <class U>
  noting(const noting<U>&) noexcept {}
  T* allocate(std::size_t n) {
    last_frame = n * sizeof(T);
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* of, std::size_t n) noexcept { std::allocator<T>().deallocate(of, n); }
  friend bool operator==(const noting&, const noting&) noexcept { return true; }
};
using from = std::allocator_arg_t;
using here = noting<std::byte>;

task<int> no_wait(from, here, channel<int>&) { co_return 1; }
task<int> receive_1(from, here, channel<int>& c) { co_return *co_await c.receive(); }
task<int> receive_2(from, here, channel<int>& c) {
  const int a = *co_await c.receive();
  co_return a + *co_await c.receive();
}
task<int> receive_4(from, here, channel<int>& c) {
  const int a = *co_await c.receive();
  const int b = *co_await c.receive();
  const int d = *co_await c.receive();
  co_return a + b + d + *co_await c.receive();
}
task<int> receive_4_within(from, here, channel<int>& c) {
  const int a = *co_await within(1s, c.receive());
  const int b = *co_await within(1s, c.receive());
  const int d = *co_await within(1s, c.receive());
  co_return a + b + d + *co_await within(1s, c.receive());
}
task<void> lock_4(from, here, mutex& m) {
  {
    auto held = co_await m.lock();
  }
  {
    auto held = co_await m.lock();
  }
  {
    auto held = co_await m.lock();
  }
  {
    auto held = co_await m.lock();
  }
}
task<int> join_4(from, here, join_handle<int>& h) {
  const int a = co_await h;
  const int b = co_await h;
  const int c = co_await h;
  co_return a + b + c + co_await h;
}

template <class Of>
void print(const char* name, task<Of> made) {
  std::move(made).discard();
  std::printf("%s %zu\n", name, last_frame);
}

}  // namespace

void print_frames() {
  channel<int> c(1);
  mutex m;
  join_handle<int> h;
  const from where{};
  print("frame_no_wait", no_wait(where, {}, c));
  print("frame_1_receive", receive_1(where, {}, c));
  print("frame_2_receives", receive_2(where, {}, c));
  print("frame_4_receives", receive_4(where, {}, c));
  print("frame_4_receives_within", receive_4_within(where, {}, c));
  print("frame_4_locks", lock_4(where, {}, m));
  print("frame_4_joins", join_4(where, {}, h));
  using call = detail::spawned_call_for<task<int> (*)(int), int>;
  std::printf("spawned_task %zu\n", sizeof(detail::spawned_task<int, call>));
}

}  // namespace counts
