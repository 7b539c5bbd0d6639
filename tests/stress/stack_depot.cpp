// Several threads on one depot: stacks change hands, the limit is hit, waiters come and go, decay runs beside it all.
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/stack/stack_pool.hpp>

#include <doctest/doctest.h>

#include <random>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// What threads give each other.
class market {
 public:
  void put(const stack_ref& stack) {
    primitive::locked guard(mutex_);
    stacks_.push_back(stack);
  }
  bool take(stack_ref& stack) {
    primitive::locked guard(mutex_);
    if (stacks_.empty()) return false;
    stack = stacks_.back();
    stacks_.pop_back();
    return true;
  }

 private:
  primitive::thread_mutex mutex_;
  std::vector<stack_ref> stacks_;
};

struct one_waiter : detail::stack_waiter {
  one_waiter() : detail::stack_waiter(&one_waiter::on_stack) {}
  static void on_stack(detail::stack_waiter& self, const stack_ref& given) noexcept {
    auto& one = static_cast<one_waiter&>(self);
    one.stack = given;
    // ORDER: release, pairs with the load in wait_or_withdraw().
    one.woken.store(true, std::memory_order_release);
  }
  stack_ref stack{};
  primitive::atomic<bool> woken{false};
};

// Each stack's first word says whose it is: two owners would show.
void own(const stack_ref& stack, std::uint64_t who) { *reinterpret_cast<std::uint64_t*>(stack.top - 64) = who; }
bool owns(const stack_ref& stack, std::uint64_t who) {
  return *reinterpret_cast<std::uint64_t*>(stack.top - 64) == who;
}

void wait_or_withdraw(stack_depot& depot, bool patient) {
  one_waiter waiter;
  auto answer = depot.wait(waiter);
  if (answer.kind == stack_depot::enlisting::served) return depot.release(answer.stack);
  if (answer.kind == stack_depot::enlisting::failed) return;
  if (!patient && depot.withdraw(waiter)) return;
  for (int i = 0; i < 1000; ++i) {
    // ORDER: acquire, pairs with the store in on_stack().
    if (waiter.woken.load(std::memory_order_acquire)) return depot.release(waiter.stack);
    std::this_thread::yield();
  }
  if (depot.withdraw(waiter)) return;
  // ORDER: acquire, pairs with the store in on_stack().
  while (!waiter.woken.load(std::memory_order_acquire)) std::this_thread::yield();
  depot.release(waiter.stack);
}

void work(stack_depot& depot, market& others, std::uint64_t who, int steps, manual_clock* time) {
  stack_pool pool(depot);
  std::mt19937 random(static_cast<unsigned>(who));
  std::vector<stack_ref> mine;
  bool right = true;
  for (int i = 0; i < steps; ++i) {
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        if (auto stack = pool.acquire()) {
          mine.push_back(*stack);
          own(*stack, who);
        } else if (random() % 4 == 0) {
          wait_or_withdraw(depot, random() % 2 == 0);
        }
        break;
      case 3:
      case 4:
        if (mine.empty()) break;
        right = right && owns(mine.back(), who);
        pool.release(mine.back());
        mine.pop_back();
        break;
      case 5:
        if (mine.empty()) break;
        others.put(mine.back());
        mine.pop_back();
        break;
      case 6:
        if (stack_ref stack{}; others.take(stack)) pool.release(stack);
        break;
      default:
        if (random() % 16 != 0) break;
        if (time) time->advance(300ms);
        static_cast<void>(pool.maintain());
        if (random() % 8 == 0) pool.trim();
    }
  }
  CHECK(right);
  for (const stack_ref& stack : mine) pool.release(stack);
}

void run(std::size_t limit, std::size_t size) {
  manual_clock time;
  stack_depot depot(
      {.stack_size = size, .limit = limit, .when_full = at_limit::wait, .keep = 4, .decay = 1s, .clock = &time});
  market others;
  std::vector<std::thread> threads;
  for (std::uint64_t who = 1; who <= 4; ++who)
    threads.emplace_back([&, who] { work(depot, others, who, 20000, who == 1 ? &time : nullptr); });
  for (std::thread& thread : threads) thread.join();
  for (stack_ref stack{}; others.take(stack);) depot.release(stack);
  const depot_statistics after = depot.statistics();
  CHECK(after.in_use == 0);
  CHECK(after.waiting == 0);
  CHECK((limit == 20) <= (after.waits > 0));
  depot.trim();
  CHECK(depot.statistics().slabs == 0);
}

}  // namespace

TEST_CASE("stacks change hands between threads, without a limit") { run(0, 16384); }
TEST_CASE("the same where there are few") { run(20, 16384); }
TEST_CASE("the same where the limit is far enough to keep some") { run(3000, 4096); }
