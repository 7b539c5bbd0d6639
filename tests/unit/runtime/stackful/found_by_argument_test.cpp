// await(), within(), select(), or_throw() and then() are found by their arguments, in a program that does not use
// namespace hocket: for whatever hocket returns, also where a foreign awaitable is inside.
#include <hocket/hocket.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <coroutine>

namespace program {

using namespace std::chrono_literals;

struct foreign {
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) noexcept {}
  hocket::result<int> await_resume() { return 1; }
};
struct foreign_int {
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) noexcept {}
  int await_resume() { return 1; }
};

hocket::task<int> one() { co_return 1; }
hocket::async_generator<int> ones() { co_yield 1; }

int sum() {
  hocket::event set;
  set.set();
  hocket::channel<int> c(4);
  int sum = 0;
  sum += await(c.send(1)).has_value();
  sum += *await(within(1s, c.receive()));
  sum += await(select(set.wait(), c.receive())).has_value();
  sum += await(select(within(1s, set.wait()), hocket::sleep_for(1h))).has_value();
  sum += await(within(1s, hocket::sleep_for(0s))).has_value();
  auto thrown = hocket::or_throw(foreign{});
  sum += await(std::move(thrown));
  auto twice = hocket::then(foreign_int{}, [](int n) { return n; });
  sum += await(std::move(twice));
  auto all = await(hocket::when_all(foreign_int{}, foreign_int{}));
  sum += std::get<0>(all);
  sum += await(hocket::when_any(foreign_int{}, foreign_int{})).index() < 2;
  auto forked = await(hocket::fork_join(one(), one()));
  sum += std::get<0>(forked);
  auto each = ones();
  sum += await(each.next()) != nullptr;
  sum += *await(hocket::blocking([] { return 1; }));
  sum += *await(within(1s, hocket::blocking([] { return 1; })));
  return sum;
}

}  // namespace program

TEST_CASE("the functions of hocket are found by what hocket returns, without its namespace") {
  CHECK(hocket::run(&program::sum) == 13);
}
