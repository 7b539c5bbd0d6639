#include <hocket/core/thread/seam/thread_executor.hpp>

#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

script note(std::vector<int>& log, int number) {
  log.push_back(number);
  co_return;
}

script note_executor(executor*& seen) {
  seen = current_executor();
  co_return;
}

std::vector<detail::runnable*> taken(detail::thread_executor& from) {
  std::vector<detail::runnable*> out;
  for (detail::runnable* work = from.take(); work; work = work->next) out.push_back(work);
  return out;
}

}  // namespace

TEST_CASE("what is posted is taken at once, first posted first") {
  detail::thread_executor here;
  detail::runnable a, b, c;
  for (detail::runnable* work : {&a, &b, &c}) here.post_from_outside(*work);
  CHECK(taken(here) == std::vector<detail::runnable*>{&a, &b, &c});
  here.post_from_outside(b);
  CHECK(taken(here) == std::vector<detail::runnable*>{&b});
}

TEST_CASE("coroutines run in the order of their posting, under this executor, until the signal") {
  detail::thread_executor here;
  std::vector<int> log;
  executor* seen = nullptr;
  auto first = note(log, 1);
  auto second = note(log, 2);
  auto third = note_executor(seen);
  first.start(here);
  second.start(here);
  third.start(here);
  detail::runnable signal{};
  here.post_from_outside(signal);
  here.run_until_signal();
  CHECK(log == std::vector{1, 2});
  CHECK(seen == &here);
  CHECK(current_executor() == nullptr);
}

TEST_CASE("what was posted before the signal was seen is not forgotten") {
  detail::thread_executor here;
  std::vector<int> log;
  auto before = note(log, 1);
  auto after = note(log, 2);
  detail::runnable signal{};
  before.start(here);
  here.post_from_outside(signal);
  after.start(here);
  here.run_until_signal();
  CHECK(log == std::vector{1, 2});
}

TEST_CASE("a coroutine that posts itself again runs after those that wait already") {
  detail::thread_executor here;
  struct again {
    executor& to;
    detail::runnable entry{};
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) noexcept {
      entry = {nullptr, handle, &to};
      to.post_from_outside(entry);
    }
    void await_resume() const noexcept {}
  };
  std::vector<int> log;
  detail::runnable signal{};
  auto polite = [&](int n) -> script {
    for (int round = 0; round < 3; ++round) {
      log.push_back(n);
      co_await again{here};
    }
    if (n == 2) here.post_from_outside(signal);
  };
  auto one = polite(1);
  auto two = polite(2);
  one.start(here);
  two.start(here);
  here.run_until_signal();
  CHECK(log == std::vector{1, 2, 1, 2, 1, 2});
}

TEST_CASE("a thread that waits fires its timers, and what they post ends the wait") {
  struct posting : detail::timer_node {
    posting(detail::thread_executor& home, detail::runnable& work, time_point due) noexcept : home_(home), work_(work) {
      when = due;
      static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
        auto& it = static_cast<posting&>(self);
        it.home_.post_from_outside(it.work_);
      }};
      kind = &rings;
    }
    detail::thread_executor& home_;
    detail::runnable& work_;
  };
  detail::thread_executor here;
  detail::runnable a, b, c;
  const time_point soon = deadline_after(here.timers()->now(), std::chrono::microseconds(200));
  posting late(here, b, soon), past(here, a, time_point{}), never(here, c, time_point::max() - duration(1));
  for (posting* one : {&late, &past, &never}) here.timers()->attach(*one);
  std::vector<detail::runnable*> order;
  while (order.size() < 2) {
    for (detail::runnable* one : taken(here)) order.push_back(one);
  }
  CHECK(order == std::vector<detail::runnable*>{&a, &b});
  CHECK(here.timers()->now() >= soon);
  CHECK(here.timers()->detach(never));
}

TEST_CASE("fault 09: a thread that is kept busy does not starve its timers") {
  detail::thread_executor here;
  bool fired = false;
  struct flag : detail::timer_node {
    bool* to;
  } alarm;
  alarm.to = &fired;
  static constexpr detail::timer_kind rings{
      [](detail::timer_node& self, detail::timer_call) noexcept { *static_cast<flag&>(self).to = true; }};
  alarm.kind = &rings;
  alarm.when = deadline_after(here.timers()->now(), std::chrono::microseconds(200));
  here.timers()->attach(alarm);
  detail::runnable busy;
  while (!fired) {
    here.post_from_outside(busy);
    CHECK(here.take() == &busy);
  }
  CHECK(here.timers()->now() >= alarm.when);
}

TEST_CASE("a sleeping thread is woken by posts from others, and each runs once") {
  constexpr int threads = 4, each = 2'000;
  detail::thread_executor here;
  std::vector<int> counts(threads, 0);
  std::vector<std::vector<detail::runnable>> work(threads, std::vector<detail::runnable>(each));
  std::vector<std::thread> posters;
  for (auto& own : work) {
    posters.emplace_back([&here, &own] {
      for (auto& one : own) here.post_from_outside(one);
    });
  }
  std::vector<std::size_t> next(threads, 0);
  bool in_order = true;
  for (int total = 0; total < threads * each;) {
    for (detail::runnable* one = here.take(); one; one = one->next, ++total) {
      for (std::size_t t = 0; t < work.size(); ++t) {
        auto& own = work[t];
        if (one < own.data() || one >= own.data() + each) continue;
        in_order = in_order && one == &own[next[t]++];
      }
    }
  }
  for (auto& poster : posters) poster.join();
  CHECK(in_order);
  for (auto count : next) CHECK(count == each);
}
