// Boost.Asio's thread_pool: post() from outside, and its C++20 coroutines, for which a yield is a post to the pool,
// awaited. The executor's own type and `deferred` are used as in ../asio_awaitable.cpp; here are threads. An event is a
// concurrent_channel of one place, and those that are awaited together are a parallel_group. asio_timers.cpp has the
// timers.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/concurrent_channel.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>

#include "timers.hpp"

namespace {

namespace asio = boost::asio;
using lab::load;
using lab::asio_pool::coroutine;
using lab::asio_pool::executor;
using lab::asio_pool::run;

coroutine yielding(executor on, lab::gate& gate, std::size_t k) {
  gate.arrive();
  while (!gate.is_open()) co_await asio::post(on, asio::deferred);
  for (; k; --k) co_await asio::post(on, asio::deferred);
  gate.leave();
}

void yields(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::gate gate;
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    gate.close(r.count);
    for (std::size_t i = 0; i < r.count; ++i) {
      asio::co_spawn(pool.get_executor(), yielding(pool.get_executor(), gate, k), asio::detached);
    }
    return gate.wait();
  });
  r.emit_of(system, "yields", "ns", ns / static_cast<double>(r.count));
}

coroutine counting(std::uint64_t& counter) {
  ++counter;
  co_return;
}

coroutine one_by_one(executor on, std::size_t k, std::uint64_t& counter, double& ns) {
  const double begin = lab::now_ns();
  for (; k; --k) co_await asio::co_spawn(on, counting(counter), asio::deferred);
  ns = lab::now_ns() - begin;
}

void spawn_join(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    std::uint64_t counter = 0;
    double took = 0;
    run(pool, one_by_one(pool.get_executor(), k, counter, took));
    if (counter != k) lab::fail("not every coroutine has run");
    return took;
  });
  r.emit_of(system, "spawn_join", "ns", ns);
}

void post_outside(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::post_outside(system, r, [&](lab::countdown& jobs) { asio::post(pool, [&jobs] { jobs.done(); }); });
}

using event = asio::experimental::concurrent_channel<executor, void(boost::system::error_code)>;

struct court {
  explicit court(executor on) : sides{event(on, 1), event(on, 1)} {}
  event sides[2];
  std::size_t ways = 0;
  double ns = 0;

  void set(int side) {
    if (!sides[side].try_send(boost::system::error_code())) lab::fail("a token was there already");
  }
};

coroutine play(court& c, int me) {
  const double begin = lab::now_ns();
  for (std::size_t i = 0; i < c.ways / 2; ++i) {
    if (me == 0) c.set(1);
    co_await c.sides[me].async_receive(asio::deferred);
    if (me == 1) c.set(0);
  }
  if (me == 0) c.ns = lab::now_ns() - begin;
}

void ping_pong(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  const double ns = lab::median_of_some(r.budget_ns, [&] {
    court c(pool.get_executor());
    c.ways = r.count;
    auto other = asio::co_spawn(pool.get_executor(), play(c, 1), asio::use_future);
    run(pool, play(c, 0));
    other.get();
    return c.ns;
  });
  r.emit_of(system, "ping_pong", "ns", ns / static_cast<double>(r.count));
}

[[gnu::noinline]] asio::awaitable<int, executor> leaf(int i) { co_return i; }

coroutine all_at_once(executor on, std::size_t count, std::size_t k, std::uint64_t& sum, double& ns) {
  const double begin = lab::now_ns();
  for (; k; --k) {
    std::vector<decltype(asio::co_spawn(on, leaf(0), asio::deferred))> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(asio::co_spawn(on, leaf(static_cast<int>(i)), asio::deferred));
    auto [order, failures, values] = co_await asio::experimental::make_parallel_group(std::move(all))
                                         .async_wait(asio::experimental::wait_for_all(), asio::deferred);
    for (int one : values) sum += static_cast<std::uint64_t>(one);
  }
  ns = lab::now_ns() - begin;
}

void when_all(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    std::uint64_t sum = 0;
    double took = 0;
    run(pool, all_at_once(pool.get_executor(), r.count, k, sum, took));
    if (sum != k * (r.count * (r.count - 1) / 2)) lab::fail("the coroutines gave another sum");
    return took;
  });
  r.emit_of(system, "when_all_10000", "ns", ns / static_cast<double>(r.count));
}

void wake(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::wake(system, r, [&](double& ran) { asio::post(pool, [&ran] { lab::note_now(ran); }); });
}

void idle(const char* system, const load& r) {
  asio::thread_pool pool(r.workers);
  lab::idle(system, r);
}

constexpr lab::named_load loads[] = {
    {"yields", yields},
    {"spawn_join", spawn_join},
    {"post_outside", post_outside},
    {"ping_pong", ping_pong},
    {"when_all_10000", when_all},
    {"timer_cancel", lab::asio_pool::timer_cancel},
    {"timer_cancel_1e6", lab::asio_pool::timer_cancel_1e6},
    {"timer_expire", lab::asio_pool::timer_expire},
    {"wake", wake},
    {"idle", idle},
    {"sleeping", lab::asio_pool::sleeping},
};

}  // namespace

int main(int argc, char** argv) { return lab::run_load(LAB_SYSTEM, argc, argv, loads); }
