// asio_home, with tasks.
#include <hocket/asio/asio_home.hpp>
#include <hocket/asio/use_hocket.hpp>
#include <hocket/stackless.hpp>

#include "pair.hpp"
#include "support/readiness_driver.hpp"
#include "unit/runtime/wire.hpp"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> record_twice(std::vector<int>& order, int number) {
  order.push_back(number);
  co_await yield();
  order.push_back(number);
}

task<> yield_often(int times, int& done) {
  for (int i = 0; i < times; ++i) {
    co_await yield();
    ++done;
  }
}

task<> nap(duration time) { static_cast<void>(co_await sleep_for(time)); }

task<bool> wait_for(event& bell) {
  auto rang = co_await bell.wait();
  co_return rang.has_value();
}

}  // namespace

TEST_CASE("coroutines run in the io_context's run, which ends with the last of them") {
  net::io_context host;
  asio_home home(host);
  std::vector<int> order;
  for (int i : {1, 2}) spawn(home, record_twice, std::ref(order), i);
  CHECK(order.empty());
  host.run();
  CHECK(order == std::vector{1, 2, 1, 2});
  CHECK(home.live() == 0);
  host.restart();
  spawn(home, record_twice, std::ref(order), 3);
  host.run();
  CHECK(order.size() == 6);
}

TEST_CASE("a home without coroutines is no work") {
  net::io_context host;
  asio_home home(host);
  CHECK(host.run() == 0);
}

TEST_CASE("handlers have their turn beside coroutines that are always ready") {
  net::io_context host;
  asio_home home(host);
  int yields = 0, seen = -1;
  spawn(home, yield_often, 10'000, std::ref(yields));
  net::post(host, [&] { net::post(host, [&] { seen = yields; }); });
  host.run();
  CHECK(yields == 10'000);
  CHECK(seen >= 0);
  CHECK(seen < 1'000);
}

TEST_CASE("deadlines use a timer of the io_context, and a cancelled deadline does not keep the io_context running") {
  net::io_context host;
  asio_home home(host);
  const auto until = std::chrono::steady_clock::now() + 2ms;
  spawn(home, nap, duration(2ms));
  host.run();
  CHECK(std::chrono::steady_clock::now() >= until);
  host.restart();
  auto eternal = spawn(home, nap, duration(10h));
  host.poll();
  eternal.cancel();
  host.run();  // does not last ten hours
  CHECK(eternal.done());
}

TEST_CASE("an earlier deadline overtakes a later one") {
  net::io_context host;
  asio_home home(host);
  auto late = spawn(home, nap, duration(10h));
  host.poll();
  auto early = spawn(home, nap, duration(1ms));
  while (!early.done()) host.run_one();
  CHECK_FALSE(late.done());
}

TEST_CASE("another thread wakes a coroutine while the io_context has nothing else to do") {
  for (int round = 0; round < 500; ++round) {
    net::io_context host;
    asio_home home(host);
    event bell;
    auto waiter = spawn(home, wait_for, std::ref(bell));
    std::thread other([&] { bell.set(); });
    host.run();
    other.join();
    CHECK(sync_wait(waiter));
  }
}

TEST_CASE("threads spawn on a home while its io_context runs") {
  net::io_context host;
  asio_home home(host);
  auto work = net::make_work_guard(host);
  int done = 0;
  std::thread runs([&] { host.run(); });
  std::vector<std::thread> spawners;
  for (int i = 0; i < 2; ++i) {
    spawners.emplace_back([&] {
      for (int k = 0; k < 500; ++k) spawn(home, yield_often, 1, std::ref(done));
    });
  }
  for (auto& thread : spawners) thread.join();
  work.reset();
  runs.join();
  CHECK(done == 1'000);
}

TEST_CASE("a home that is destroyed kills its coroutines, and waits for their operations") {
  net::io_context host;
  connected pair(host);
  bool is_destroyed = false;
  char room[4];
  auto read = [&]() -> task<> {
    struct witness {
      bool& is_destroyed;
      ~witness() { is_destroyed = true; }
    } local{is_destroyed};
    static_cast<void>(co_await pair.near.async_read_some(net::buffer(room), use_hocket));
  };
  for (bool stopped : {false, true}) {
    is_destroyed = false;
    {
      asio_home home(host);
      spawn(home, read);
      spawn(home, nap, duration(10h));
      host.poll();
      if (stopped) host.stop();
      CHECK_FALSE(is_destroyed);
    }
    CHECK(is_destroyed);
  }
}

TEST_CASE("a home may go while a turn of it stands in line, in an io_context that is run again or not") {
  std::vector<int> order;
  for (bool again : {false, true}) {
    net::io_context host;
    {
      asio_home home(host);
      spawn(home, record_twice, std::ref(order), 1);
    }
    host.restart();
    if (again) host.run();
  }
  CHECK(order.empty());
}

TEST_CASE("coroutines of a home wait for hocket's own I/O, and the io_context ends with the last of them") {
  readiness_drivers io;
  wire line;
  net::io_context host;
  asio_home home(host);
  auto read = [&](int times) -> task<int> {
    int seen = 0;
    for (; times != 0; --times) {
      auto ready = co_await hocket_test::readable(line.fd());
      seen += ready && line.take();
    }
    co_return seen;
  };
  for (int round = 0; round < 3; ++round) {
    auto reads = spawn(home, read, 100);
    std::thread other([&] {
      for (int i = 0; i < 100; ++i) line.send();
    });
    host.restart();
    host.run();
    other.join();
    CHECK(sync_wait(std::move(reads)) == 100);
  }
  CHECK(io.creation_attempts == 1);
  auto cancelled = spawn(home, read, 1);
  home.cancel_all();
  host.restart();
  host.run();
  CHECK(sync_wait(std::move(cancelled)) == 0);
}
