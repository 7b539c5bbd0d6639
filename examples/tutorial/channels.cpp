#include <hocket/hocket.hpp>
#include <cstdio>
#include <functional>
#include <vector>

using namespace hocket;

task<> produce(channel<int>& numbers) {
  for (int n = 1; n <= 1000; ++n) co_await or_throw(numbers.send(n));
  numbers.close();
}

task<> square(channel<int>& numbers, channel<int>& squares) {
  while (auto n = co_await numbers.receive()) co_await or_throw(squares.send(*n * *n));
}

int sum(channel<int>& squares) {
  int total = 0;
  while (auto n = await(squares.receive())) total += *n;
  return total;
}

int main() {
  channel<int> numbers(4), squares(4);
  runtime rt;
  auto producer = spawn(rt, produce, std::ref(numbers));
  std::vector<join_handle<>> squaring;
  for (int i = 0; i < 3; ++i) squaring.push_back(spawn(rt, square, std::ref(numbers), std::ref(squares)));
  auto total = spawn(rt, sum, std::ref(squares));

  for (auto& handle : squaring) sync_wait(handle);  // the numbers are closed, and all squares are sent
  squares.close();
  std::printf("the sum of 1000 squares: %d\n", sync_wait(total));
  sync_wait(producer);
}
