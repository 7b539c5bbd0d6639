// Both kinds on one loop, with the same primitives: tasks feed a box, a fiber empties it. Only the word differs: co_await
// in the task, await in the fiber.
#include <hocket/hocket.hpp>

#include <cstdio>
#include <functional>
#include <vector>

using namespace hocket;

namespace {

struct box {
  mutex guarding;
  semaphore filled{0};
  std::vector<int> values;
};

task<> feed(box& out, int n) {  // stackless
  for (; n > 0; --n) {
    auto held = co_await or_throw(out.guarding.lock());
    out.values.push_back(n);
    out.filled.release();
  }
}

int sum(box& in, int count) {  // stackful
  int total = 0;
  for (; count > 0; --count) {
    await(or_throw(in.filled.acquire())).forget();
    auto held = await(or_throw(in.guarding.lock()));
    total += in.values.back();
    in.values.pop_back();
  }
  return total;
}

}  // namespace

int main() {
  int total = run([] {  // a loop and its first fiber
    box values;
    scope all;  // declared last, joined first, even when something is thrown
    auto result = spawn(all, sum, std::ref(values), 300);  // same verb and handle for both kinds
    {
      scope feeds;
      for (int n : {100, 200}) spawn(feeds, feed, std::ref(values), n);
    }  // joined at the brace
    return await(result);
  });
  std::printf("%d\n", total);
  return total == 5050 + 20100 ? 0 : 1;
}
