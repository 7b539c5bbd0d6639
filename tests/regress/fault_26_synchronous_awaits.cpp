// FAULTS 26: g++ without optimisation or with a sanitizer makes no tail call of a symmetric transfer; an 8 MiB stack
// dies after 14,000 to 260,000 awaits that complete synchronously. The depth budget of tasks must bound it.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/task.hpp>

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>

using namespace hocket;

namespace {

// Two seconds without optimisation. Under a sanitizer a million does: without the budget the stack would be gone long
// before.
constexpr int many = detail::sanitizer == detail::sanitizer_kind::plain ? 10'000'000 : 1'000'000;

task<int> one() { co_return 1; }
task<std::string> text(int n) { co_return std::string(static_cast<std::size_t>(n % 40), 'x'); }
task<> fails() {
  throw std::runtime_error("each time");
  co_return;
}

task<long> awaits(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await one();
  co_return sum;
}
task<long> loops(int n, int depth) {
  if (depth == 0) co_return co_await awaits(n);
  co_return co_await loops(n / 2, depth - 1) + co_await loops(n / 2, depth - 1);
}
task<long> texts(int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<long>((co_await text(i)).size());
  co_return sum;
}
task<long> failures(int n) {
  long caught = 0;
  for (int i = 0; i < n; ++i) {
    try {
      co_await fails();
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  co_return caught;
}
task<int> chain(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await chain(n - 1);
}
task<int> failing_chain(int n) {
  if (n == 0) throw std::runtime_error("from the bottom");
  co_return 1 + co_await failing_chain(n - 1);
}

}  // namespace

TEST_CASE("fault 26: a loop of synchronously completing awaits keeps the stack") {
  CHECK(sync_wait(awaits(many)) == many);
}

TEST_CASE("fault 26: so does a tree of loops, which hands the budget up and down") {
  CHECK(sync_wait(loops(1 << 18, 8)) == 1 << 18);
}

TEST_CASE("fault 26: so do results on the heap, and exceptions") {
  CHECK(sync_wait(texts(200'000)) == 200'000 / 40 * 780);
  CHECK(sync_wait(failures(50'000)) == 50'000);
}

TEST_CASE("fault 26: a chain of a million live frames goes down and up") {
  CHECK(sync_wait(chain(1'000'000)) == 1'000'000);
}

TEST_CASE("fault 26: an exception goes up through a hundred thousand frames") {
  CHECK_THROWS_AS(static_cast<void>(sync_wait(failing_chain(100'000))), std::runtime_error);
}
