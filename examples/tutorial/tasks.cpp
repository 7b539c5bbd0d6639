#include <hocket/hocket.hpp>
#include <cstdio>

using namespace hocket;
using namespace std::chrono_literals;

task<result<int>> price(int item) {
  std::printf("price of item %d?\n", item);
  co_await sleep_for(10ms);  // stands for a question to another computer
  if (item > 100) co_return failure(std::errc::invalid_argument);
  co_return item * 10;
}

task<result<int>> total(int first, int second) {
  const int a = co_await or_return(price(first));
  const int b = co_await or_return(price(second));
  co_return a + b;
}

task<result<int>> total_at_once(int first, int second) {
  auto [a, b] = co_await or_return(when_all(price(first), price(second)));
  co_return a + b;
}

task<int> show() {
  task<result<int>> later = price(3);
  std::puts("nothing has run yet");
  result<int> three = co_await std::move(later);
  std::printf("it is %d\n", *three);

  if (result<int> sum = co_await total(1, 2)) std::printf("one after the other: %d\n", *sum);
  if (result<int> sum = co_await total_at_once(1, 2)) std::printf("both at once: %d\n", *sum);

  result<int> wrong = co_await total(101, 2);
  if (!wrong) std::printf("no total: %s\n", wrong.error().message().c_str());
  co_return 0;
}

int main() { return run(show); }
