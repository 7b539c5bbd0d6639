// Waits at channels allocate nothing.
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/watch.hpp>

#include "support/alloc.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr int items = 200;
constexpr int sum_of_items = items * (items + 1) / 2;

// Until it is closed.
template <class Channel>
script receive_all(Channel& from, int& into) {
  for (;;) {
    auto got = co_await from.receive();
    if (!got) break;
    into += *got;
  }
}

template <class Channel>
script send_all(Channel& to) {
  for (int i = 1; i <= items; ++i) static_cast<void>(co_await to.send(i));
  to.close();
}

// The same with selects at both ends; the other operation of each never comes to anything.
template <class Channel>
script choose_to_receive(Channel& from, Channel& never, int& into) {
  for (;;) {
    auto got = co_await select(from.receive(), never.receive());
    auto& item = got->template get<0>();
    if (!item) break;
    into += *item;
  }
}
template <class Channel>
script choose_to_send(Channel& to, Channel& never) {
  for (int i = 1; i <= items; ++i) static_cast<void>(co_await select(never.receive(), to.send(i)));
  to.close();
}

// How many allocations two make from their start to their end.
std::size_t allocations_of(script one, script other) {
  stepped_executor on;
  one.start(on, &context::root());
  other.start(on, &context::root());
  allocation_watch watch;
  on.run();
  return watch.allocations();
}

}  // namespace

TEST_CASE("sends and receives of a spsc_channel allocate nothing, also those that wait") {
  spsc_channel<int> c(1);
  int sum = 0;
  CHECK(allocations_of(receive_all(c, sum), send_all(c)) == 0);
  CHECK(sum == sum_of_items);
}

TEST_CASE("sends and receives of a channel allocate nothing, also those that wait, and selects of them") {
  for (const std::size_t places : {0u, 1u, 16u}) {
    CAPTURE(places);
    channel<int> c(places), chosen(places), never(places);
    int sum = 0, sum_of_chosen = 0;
    CHECK(allocations_of(receive_all(c, sum), send_all(c)) == 0);
    CHECK(allocations_of(choose_to_receive(chosen, never, sum_of_chosen), choose_to_send(chosen, never)) == 0);
    CHECK(sum == sum_of_items);
    CHECK(sum_of_chosen == sum_of_items);
  }
}

TEST_CASE("an unbounded channel keeps the memory that it needs") {
  channel<int> c(channel<int>::unbounded), before(channel<int>::unbounded);
  CHECK(c.try_send(0));
  CHECK(c.try_receive());
  int sum = 0;
  allocations_of(receive_all(before, sum),
                 send_all(before));  // the frames of pauses (core/wait/seam/budget.hpp) are kept
  sum = 0;
  CHECK(allocations_of(receive_all(c, sum), send_all(c)) == 0);
  CHECK(sum == sum_of_items);
}

TEST_CASE("waits of a broadcast and of a watch, and what ends them, allocate nothing") {
  stepped_executor on;
  broadcast<int> b(2);
  watch<int> w(0);
  int sum = 0;
  auto receive = [](auto& from, int& into) -> script {
    auto mine = from.subscribe();
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
