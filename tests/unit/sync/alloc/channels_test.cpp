// Waits at channels allocate nothing.
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/watch.hpp>

#include "support/alloc.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("sends and receives of a spsc_channel allocate nothing, also those that wait") {
  stepped_executor on;
  spsc_channel<int> c(1);
  int sum = 0;
  auto send = [](spsc_channel<int>& to) -> script {
    for (int i = 1; i <= 10; ++i) static_cast<void>(co_await to.send(i));
    to.close();
  };
  auto receive = [](spsc_channel<int>& from, int& into) -> script {
    for (;;) {
      auto got = co_await from.receive();
      if (!got) break;
      into += *got;
    }
  };
  script all[] = {receive(c, sum), send(c)};
  for (auto& one : all) one.start(on, &context::root());
  std::size_t allocations = 1;
  {
    allocation_watch watch;
    while (on.step()) {
    }
    allocations = watch.allocations();
  }
  CHECK(sum == 55);
  CHECK(allocations == 0);
}

TEST_CASE("waits of a broadcast and of a watch, and what ends them, allocate nothing") {
  stepped_executor on;
  broadcast<int> b(2);
  watch<int> w(0);
  int sum = 0;
  auto receive = [](auto& from, int& into) -> script {
    auto mine = from.make_receiver();
    for (;;) {
      auto got = co_await mine.receive();
      if (!got) break;
      into += *got;
    }
  };
  script all[] = {receive(b, sum), receive(b, sum), receive(w, sum)};
  for (auto& one : all) one.start(on, &context::root());
  on.run();
  std::size_t allocations = 1;
  {
    allocation_watch counting;
    for (int n = 1; n <= 10; ++n) {
      b.send(n);
      w.set(n);
      on.run();
    }
    b.close();
    w.close();
    on.run();
    allocations = counting.allocations();
  }
  CHECK(sum == 3 * 55);
  CHECK(allocations == 0);
}
