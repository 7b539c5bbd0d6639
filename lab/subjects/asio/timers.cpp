// The timers of Boost.Asio's thread_pool. A cancelled timer calls its handler through the queue of the pool. This call
// is a part of timer_cancel: the coroutines yield after each 64 timers, so that the handlers run.
#include "timers.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>

namespace asio = boost::asio;

namespace {

using lab::asio_pool::coroutine;
using lab::asio_pool::executor;
using clock_type = std::chrono::steady_clock;
using timer = asio::basic_waitable_timer<clock_type, asio::wait_traits<clock_type>, executor>;

constexpr std::size_t between_yields = 64;

coroutine set_and_cancel(executor on, lab::gate& gate, std::size_t k) {
  gate.arrive();
  while (!gate.is_open()) co_await asio::post(on, asio::deferred);
  timer mine(on);
  std::atomic<std::size_t> aborted{0};
  for (std::size_t i = 0; i < k; ++i) {
    mine.expires_after(lab::far(i));
    mine.async_wait([&aborted](boost::system::error_code why) {
      if (why == asio::error::operation_aborted) aborted.fetch_add(1, std::memory_order_relaxed);
    });
    if (mine.cancel() != 1) lab::fail("a timer could not be taken back");
    if (i % between_yields == 0) co_await asio::post(on, asio::deferred);
  }
  while (aborted.load(std::memory_order_relaxed) != k) co_await asio::post(on, asio::deferred);
  gate.leave();
}

void cancel_timers(const char* system, const char* workload, const lab::load& r, asio::thread_pool& pool) {
  lab::gate gate;
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    gate.close(r.workers);
    for (std::size_t i = 0; i < r.workers; ++i) {
      asio::co_spawn(pool.get_executor(), set_and_cancel(pool.get_executor(), gate, k), asio::detached);
    }
    return gate.wait();
  });
  r.emit_of(system, workload, "ns", ns / static_cast<double>(r.workers));
}

coroutine sleeper(executor on, std::chrono::nanoseconds time, std::atomic<std::size_t>& begun, lab::countdown& ended) {
  timer mine(on, time);
  begun.fetch_add(1, std::memory_order_relaxed);
  co_await mine.async_wait(asio::deferred);
  ended.done();
}

// Static, because coroutines that sleep for hours outlive the measurement.
std::atomic<std::size_t> begun;
lab::countdown awake;

template <class Time>
coroutine spawn_sleepers(executor on, std::size_t count, Time time) {
  for (std::size_t i = 0; i < count; ++i) {
    asio::co_spawn(on, sleeper(on, time(i), begun, awake), asio::detached);
  }
  co_return;
}

}  // namespace

void lab::asio_pool::timer_cancel(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  cancel_timers(system, "timer_cancel", r, pool);
}

void lab::asio_pool::timer_cancel_1e6(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  std::vector<timer> live;
  live.reserve(r.count);
  for (std::size_t i = 0; i < r.count; ++i) {
    live.emplace_back(pool.get_executor(), far(i));
    live.back().async_wait([](boost::system::error_code) { fail("a timer fired that was far away"); });
  }
  cancel_timers(system, "timer_cancel_1e6", r, pool);
  leave();
}

void lab::asio_pool::timer_expire(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  const double ns = second_time([&] {
    awake.begin(r.count);
    run(pool, spawn_sleepers(pool.get_executor(), r.count, [&](std::size_t i) { return near(i, r.count); }));
    awake.wait();
  });
  r.emit_of(system, "timer_expire", "ns", ns / static_cast<double>(r.count));
}

void lab::asio_pool::sleeping(const char* system, const load& r) {
  asio::thread_pool pool(2);
  const double before = held_bytes();
  run(pool, spawn_sleepers(pool.get_executor(), r.n, [](std::size_t i) { return far(i); }));
  while (begun != r.n) sleep_ms(1);
  const double grown = settled_bytes() - before;
  r.emit_of(system, "sleeping", "B", grown / static_cast<double>(r.n));
  leave();
}
