#include <hocket/hocket.hpp>
#include <cstdio>
#include <numeric>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

int price(int item) {
  std::printf("price of item %d?\n", item);
  await(sleep_for(10ms));  // stands for a question to another computer
  return item * 10;
}

int total(const std::vector<int>& items) {
  return std::accumulate(items.begin(), items.end(), 0, [](int sum, int item) { return sum + price(item); });
}

task<int> discount(int sum) {
  co_await yield();
  co_return sum / 10;
}

int show() {
  auto small = spawn(total, std::vector{1, 2, 3});
  auto large = spawn(total, std::vector{40, 50, 60});
  const int sum = await(small) + await(large);
  std::printf("total: %d\n", sum);
  std::printf("discount: %d\n", await(discount(sum)));
  return 0;
}

int main() { return run(show); }
