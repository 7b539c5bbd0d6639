#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/generator.hpp>
#include <hocket/coro/task.hpp>

static hocket::generator<int> upto(int n) {
  for (int i = 1; i <= n; ++i) co_yield i;
}

static hocket::task<int> sum(int n) {
  int total = 0;
  for (int i : upto(n)) total += i;
  co_return total;
}

int main() { return hocket::sync_wait(sum(4)) == 10 ? 0 : 1; }
