// Event counters: who adds, and what a kill gives back.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include <csignal>
#include <doctest/doctest.h>
#include <limits>
#include <sys/eventfd.h>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

event_counter* rung = nullptr;

task<std::uint64_t> take_one(event_counter& from) {
  auto some = co_await from.take();
  co_return some.value_or(0);
}

}  // namespace

TEST_CASE("a signal handler wakes a coroutine by a counter, and keeps errno") {
  event_counter news = event_counter::make().value();
  rung = &news;
  struct sigaction action{}, before{};
  action.sa_handler = [](int) { static_cast<void>(rung->add(7)); };
  ::sigaction(SIGUSR1, &action, &before);
  loop lp;
  auto taken = spawn(lp, take_one, std::ref(news));
  lp.poll();
  errno = ENOENT;
  ::raise(SIGUSR1);
  CHECK(errno == ENOENT);
  lp.run_until(taken);
  CHECK(sync_wait(taken) == 7);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("a count that was taken for a coroutine that is killed is given back") {
  event_counter news = event_counter::make().value();
  detail::count_operation takes(detail::descriptor_access::record_of(news));
  CHECK(takes.point());
  takes.count = 5;
  takes.done = sizeof takes.count;
  takes.ended = 1;
  takes.resumed();
  takes.resumed();
  CHECK(sync_wait(news.take()) == 5);
  CHECK_FALSE(sync_wait(within(1ms, news.take())).has_value());
}

TEST_CASE("a counter refuses what it cannot hold, and what comes after its end") {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  event_counter news = event_counter::make().value();
  CHECK(news.add(most).error_or({}) == std::errc::invalid_argument);
  CHECK(news.add(most - 1).has_value());
  CHECK(news.add().error_or({}) == std::errc::resource_unavailable_try_again);
  CHECK(sync_wait(news.take()) == most - 1);
  news.close();
  CHECK(news.add().error_or({}) == std::errc::bad_file_descriptor);
  CHECK(sync_wait(news.take()).error_or({}) == std::errc::bad_file_descriptor);
}

TEST_CASE("an eventfd of somebody else is adopted, also as a semaphore") {
  event_counter news = event_counter::adopt(::eventfd(2, EFD_SEMAPHORE | EFD_CLOEXEC)).value();
  CHECK(sync_wait(news.take()) == 1);
  CHECK(sync_wait(news.take()) == 1);
  CHECK(sync_wait(within(1ms, news.take())).error_or({}) == std::errc::timed_out);
  CHECK(event_counter::adopt(-1).error_or({}) == std::errc::bad_file_descriptor);
}
