// The concepts are facts of compilation; the test case asserts that get_awaiter chooses as co_await does.
#include <hocket/core/awaitable.hpp>

#include <doctest/doctest.h>

using namespace hocket;

namespace {

template <class Suspend, class Result = int>
struct awaiter_with {
  bool await_ready();
  Suspend await_suspend(std::coroutine_handle<>);
  Result await_resume();
};

struct promise_of_others {};
struct picky {  // wants to know its awaiter's promise
  bool await_ready();
  void await_suspend(std::coroutine_handle<promise_of_others>);
  void await_resume();
};
struct member_operator {
  awaiter_with<void, long> operator co_await() { return {}; }
};
struct rvalue_operator {
  awaiter_with<void> operator co_await() && { return {}; }
};
struct free_operator {};
[[maybe_unused]] awaiter_with<bool, char> operator co_await(free_operator) { return {}; }
struct no_ready {
  void await_suspend(std::coroutine_handle<>);
  void await_resume();
};

static_assert(detail::awaiter<awaiter_with<void>> && detail::awaiter<awaiter_with<bool>>);
static_assert(detail::awaiter<awaiter_with<std::coroutine_handle<>>>);
static_assert(detail::awaiter<awaiter_with<std::coroutine_handle<promise_of_others>>>);
static_assert(!detail::awaiter<awaiter_with<int>>, "await_suspend gives void, bool or a handle");
static_assert(!detail::awaiter<picky>, "a waker knows no promise types");
static_assert(!detail::awaiter<no_ready> && !detail::awaiter<int>);
static_assert(detail::awaiter<std::suspend_always> && detail::awaiter<std::suspend_never>);

static_assert(awaitable<awaiter_with<void>> && awaitable<awaiter_with<void>&>);
static_assert(awaitable<member_operator> && awaitable<member_operator&> && awaitable<free_operator>);
static_assert(awaitable<rvalue_operator> && !awaitable<rvalue_operator&>);
static_assert(!awaitable<int> && !awaitable<no_ready>);

static_assert(std::same_as<await_result_t<awaiter_with<void>>, int>);
static_assert(std::same_as<await_result_t<awaiter_with<void, int&>>, int&>);
static_assert(std::same_as<await_result_t<awaiter_with<void, void>>, void>);
static_assert(std::same_as<await_result_t<member_operator>, long>);
static_assert(std::same_as<await_result_t<free_operator>, char>);

}  // namespace

TEST_CASE("an awaiter without operators is its own awaiter") {
  std::suspend_always it;
  auto&& same = detail::get_awaiter(it);
  CHECK(&same == &it);
}
