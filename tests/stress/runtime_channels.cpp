// Channels between one sender and one receiver, broadcasts and watches by brute force, on 1 to 8 workers: coroutines of
// both kinds send and receive while their waits end by deadlines of 0 to 50 us, by cancels and kills from outside. What
// is sent is received in order, or left; or the receiver is told how many items it lost.
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/watch.hpp>

#include "stress/rounds.hpp"

using namespace hocket_test;

namespace {

constexpr std::size_t crowd = 6;
constexpr int turns = 60;

// --- one to one

struct lane {
  explicit lane(std::size_t places) : through(places) {}
  spsc_channel<std::unique_ptr<long>> through;
  long sent = 0, received = 0;  // the sender's, the receiver's
  std::atomic<int> wrong{0};

  void was_sent(const std::unique_ptr<long>& item, bool is_sent) {
    if (is_sent) ++sent;
    if (is_sent == static_cast<bool>(item) || (item && *item != sent)) ++wrong;
  }
  void was_received(const std::unique_ptr<long>& item) {
    if (*item != received++) ++wrong;
  }
};

void send_in_fiber(lane& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    auto item = std::make_unique<long>(in.sent);
    auto done = await(within(no_or_short_time(random), in.through.send(std::move(item))));
    in.was_sent(item, done.has_value());
  }
}
task<> send_in_task(lane& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  event never;
  for (int i = 0; i < turns; ++i) {
    auto item = std::make_unique<long>(in.sent);
    auto done = co_await within(no_or_short_time(random), select(never.wait(), in.through.send(std::move(item))));
    in.was_sent(item, done.has_value());
  }
}
void receive_in_fiber(lane& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  event never;
  for (int i = 0; i < turns; ++i) {
    auto got = await(within(no_or_short_time(random), select(in.through.receive(), never.wait())));
    if (got) in.was_received(*got->get<0>());
  }
}
task<> receive_in_task(lane& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    auto got = co_await within(no_or_short_time(random), in.through.receive());
    if (got) in.was_received(*got);
  }
}

void one_to_one(hocket::runtime& rt, detail::random_engine& random, std::size_t places) {
  std::vector<std::unique_ptr<lane>> lanes;
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < crowd; ++i) {
    lanes.push_back(std::make_unique<lane>(places));
    const std::uint64_t own = random();
    if (own % 2 == 0) all.push_back(spawn(rt, send_in_fiber, std::ref(*lanes[i]), own));
    else all.push_back(spawn(rt, send_in_task, std::ref(*lanes[i]), own));
    if (own % 4 < 2) all.push_back(spawn(rt, receive_in_fiber, std::ref(*lanes[i]), own + 1));
    else all.push_back(spawn(rt, receive_in_task, std::ref(*lanes[i]), own + 1));
  }
  cancel_and_kill_some(all, random, crowd);
  for (auto& one : all) one.cancel();
  wait_for(all);
  for (auto& one : lanes) {
    while (auto left = one->through.try_receive()) one->was_received(*left);
    REQUIRE(one->wrong == 0);
    REQUIRE(one->received == one->sent);
  }
}

// --- one to all

struct listener {
  explicit listener(broadcast<long>& items, watch<long>& values)
      : of_items(items.subscribe()), of_values(values.subscribe()) {}
  broadcast<long>::receiver of_items;
  watch<long>::receiver of_values;
  long received = 0, latest = -1;
  std::atomic<int> wrong{0};

  template <class Result>
  void item(const Result& got) {
    if (got && *got != received++ + static_cast<long>(of_items.lost())) ++wrong;
  }
  template <class Result>
  void value(const Result& got) {
    if (got && *got <= std::exchange(latest, *got)) ++wrong;
  }
};

void listen_in_fiber(listener& self, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    auto got = await(within(no_or_short_time(random), select(self.of_items.receive(), self.of_values.receive())));
    if (got && got->index() == 0) self.item(got->get<0>());
    else if (got) self.value(got->get<1>());
  }
}
task<> listen_in_task(listener& self, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    if (random.below(2) == 0) {
      auto got = co_await within(no_or_short_time(random), self.of_items.receive());
      self.item(got);
    } else {
      auto got = co_await within(no_or_short_time(random), self.of_values.receive());
      self.value(got);
    }
  }
}

void one_to_all(hocket::runtime& rt, detail::random_engine& random, std::size_t places) {
  broadcast<long> items(places);
  watch<long> values(0);
  std::vector<std::unique_ptr<listener>> listeners;
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < crowd; ++i) {
    listeners.push_back(std::make_unique<listener>(items, values));
    if (i % 2 == 0) all.push_back(spawn(rt, listen_in_fiber, std::ref(*listeners[i]), random()));
    else all.push_back(spawn(rt, listen_in_task, std::ref(*listeners[i]), random()));
  }
  long sent = 0;
  for (int i = 0; i < turns; ++i) {
    REQUIRE(items.send(sent++));
    REQUIRE(values.set(sent));
    if (random.below(4) == 0) std::this_thread::yield();
    if (i == turns / 2) cancel_and_kill_some(all, random, crowd);
  }
  for (auto& one : all) one.cancel();
  wait_for(all);
  for (auto& one : listeners) {
    while (one->of_items.size() != 0) one->item(one->of_items.try_receive());
    one->value(one->of_values.try_receive());
    REQUIRE(one->wrong == 0);
    REQUIRE(one->latest == sent);
    REQUIRE(one->received + static_cast<long>(one->of_items.lost()) == sent);
  }
}

}  // namespace

TEST_CASE("one to one: what is sent is received in order or left, though both ends are cancelled and killed") {
  for (const std::size_t places : {1u, 4u}) {
    CAPTURE(places);
    in_rounds([places](hocket::runtime& rt, detail::random_engine& random) { one_to_one(rt, random, places); });
  }
}

TEST_CASE("one to all: what is sent is received, told lost or left, though receivers are cancelled and killed") {
  for (const std::size_t places : {1u, 4u, 64u}) {
    CAPTURE(places);
    in_rounds([places](hocket::runtime& rt, detail::random_engine& random) { one_to_all(rt, random, places); });
  }
}
