#include <hocket/hocket.hpp>
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

task<int> measure(int room) {
  co_await or_throw(sleep_for(10ms));  // stands for a slow sensor
  if (room == 3) throw std::runtime_error("room 3 has no sensor");
  co_return 18 + room;
}

task<> watch_door() {
  while (auto slept = co_await sleep_for(1h)) std::puts("the door is closed");
  std::puts("the watch of the door ends");
}

task<int> warmest(int rooms) {
  auto body = [rooms](scope& all) -> task<int> {
    spawn(all, watch_door);
    std::vector<join_handle<int>> children;
    for (int room = 1; room <= rooms; ++room) children.push_back(spawn(all, measure, room));
    int maximum = 0;
    for (auto& child : children) maximum = std::max(maximum, co_await child);
    all.cancel();  // the watch would not end by itself
    co_return maximum;
  };
  co_return co_await in_scope(body);
}

task<int> show() {
  const int degrees = co_await warmest(2);
  std::printf("the warmest of two rooms: %d degrees\n", degrees);
  try {
    co_await warmest(4);
  } catch (const std::runtime_error& error) {
    std::printf("no answer: %s\n", error.what());
  }
  co_return 0;
}

int main() { return run(show); }
