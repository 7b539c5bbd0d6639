// Both kinds on one loop, with one channel: tasks feed it, a fiber empties it. Only the word differs: co_await in the
// task, await in the fiber.
#include <hocket/hocket.hpp>

#include <cstdio>
#include <functional>

using namespace hocket;

namespace {

task<> feed(channel<int>& out, int n) {  // stackless
  for (; n > 0; --n) co_await or_throw(out.send(n));
}

int sum(channel<int>& in) {  // stackful
  int total = 0;
  while (auto value = await(in.receive())) total += *value;  // ends when the channel is closed and drained
  return total;
}

}  // namespace

int main() {
  int total = run([] {  // a loop and its first fiber
    channel<int> values{16};
    scope all;  // declared last, joined first, even when something is thrown
    auto result = spawn(all, sum, std::ref(values));  // same verb and handle for both kinds
    {
      scope feeds;
      for (int n : {100, 200}) spawn(feeds, feed, std::ref(values), n);
    }  // joined at the brace
    values.close();
    return await(result);
  });
  std::printf("%d\n", total);
  return total == 5050 + 20100 ? 0 : 1;
}
