#include <hocket/hocket.hpp>
#include <cstdio>

using namespace hocket;
using namespace std::chrono_literals;

task<> close_log() {
  co_await sleep_for(1ms);
  std::puts("  the log is closed");
}

task<result<int>> count_sheep() {
  for (int sheep = 0;; ++sheep) {
    const result<void> slept = co_await sleep_for(1h);
    if (slept) continue;
    std::printf("  woken after %d sheep: %s\n", sheep, slept.error().message().c_str());
    co_await shielded(close_log());
    co_return failure(slept.error());
  }
}

task<result<int>> count_for_two_nights() {
  const int first = co_await or_return(count_sheep());
  const int second = co_await or_return(count_sheep());
  co_return first + second;
}

task<int> show() {
  std::puts("a deadline for one wait:");
  const result<int> late = co_await within(20ms, count_sheep());
  if (late.error() == std::errc::timed_out) std::puts("too late");

  std::puts("a cancel:");
  auto counting = spawn(count_sheep);
  co_await yield();  // the new coroutine runs until its first wait
  counting.cancel();
  const result<int> stopped = co_await counting.join();
  if (stopped.error() == std::errc::operation_canceled) std::puts("cancelled");

  std::puts("a deadline for all waits of a coroutine:");
  auto limited = spawn({.within = 20ms}, count_for_two_nights);
  const result<int> nights = co_await limited.join();
  std::printf("%s\n", nights.error().message().c_str());
  co_return 0;
}

int main() { return run(show); }
