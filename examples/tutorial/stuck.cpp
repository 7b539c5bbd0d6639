#include <hocket/hocket.hpp>
#include <cstdio>
#include <functional>

using namespace hocket;
using namespace std::chrono_literals;

task<> produce(channel<int>& numbers) {
  for (int n = 1; n <= 3; ++n) co_await or_throw(numbers.send(n));
}  // the mistake: nobody closes the channel

task<> consume(channel<int>& numbers) {
  while (auto n = co_await numbers.receive()) std::printf("%d\n", *n);
  std::puts("the consumer ends");
}

int main() {
  channel<int> numbers(16);
  runtime rt({.workers = 1, .name = "example"});
  auto producer = spawn(rt, {.name = "producer"}, produce, std::ref(numbers));
  auto consumer = spawn(rt, {.name = "consumer"}, consume, std::ref(numbers));
  sync_wait(producer);
  const result<void> ended = sync_wait(within(2s, consumer.join()));
  if (!ended) rt.dump(2);  // to standard error

  const shutdown_report report = rt.shutdown({.cancel = 10s});
  std::printf("cancelled: %zu, killed: %zu, left: %zu\n", report.cancelled, report.killed, report.remaining);
  return report.remaining == 0 ? 0 : 1;
}
