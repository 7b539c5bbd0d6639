// Conditions, monitors and channels by brute force, on 1 to 8 workers: coroutines of both kinds pass numbers to each
// other, while their waits end by deadlines of 0 to 50 us, by cancels and kills from outside. The holder of the mutex
// or the monitor is alone; no notification is lost, so all coroutines end; each number is received once, or is left.
#include <hocket/sync/channel.hpp>
#include <hocket/sync/condition.hpp>
#include <hocket/sync/monitor.hpp>

#include "stress/rounds.hpp"

using namespace hocket_test;

namespace {

constexpr std::size_t crowd = 12;
constexpr int turns = 30;

// --- a store with two places

struct store_with_mutex {
  mutex m;
  condition more, less;

  auto enter() { return m.lock(); }
  auto wait(mutex::guard& held, bool for_room) { return (for_room ? less : more).wait(held); }
  void tell(bool of_room) { static_cast<void>((of_room ? less : more).notify_one()); }
  void tell_all() {
    more.notify_all();
    less.notify_all();
  }
};
struct store_with_monitor {
  monitor m;

  auto enter() { return m.enter(); }
  auto wait(monitor::guard& held, bool) { return m.wait(held); }
  void tell(bool) { m.notify_all(); }
  void tell_all() { m.notify_all(); }
};

template <class Locks>
struct store : Locks {
  std::vector<long> items;
  long next = 1, in = 0, out = 0;
  bool closed = false;
  std::atomic<int> inside{0}, wrong{0};

  void comes_in() {
    if (inside.fetch_add(1) != 0) ++wrong;
  }
  void goes_out() { --inside; }
  bool must_wait(bool puts) const { return !closed && (puts ? items.size() == 2 : items.empty()); }
  void move(bool puts) {
    if (must_wait(puts) || (!puts && items.empty())) return;
    if (puts) {
      items.push_back(next);
      in += next++;
    } else {
      out += items.back();
      items.pop_back();
    }
    this->tell(!puts);
  }
  void check() const {
    long left = 0;
    for (long one : items) left += one;
    REQUIRE(in == out + left);
    REQUIRE(wrong == 0);
  }
};

// After a time-out a coroutine tries again, after a cancel it leaves.
template <class Store>
void use_in_fiber(Store& in, bool puts, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    auto held = await(in.enter());
    if (!held) return;
    in.comes_in();
    while (in.must_wait(puts)) {
      in.goes_out();
      auto told = await(within(no_or_short_time(random), in.wait(*held, puts)));
      in.comes_in();
      if (!told && told.error() != std::errc::timed_out) break;
    }
    in.move(puts);
    in.goes_out();
  }
}
template <class Store>
task<> use_in_task(Store& in, bool puts, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    auto held = co_await in.enter();
    if (!held) co_return;
    in.comes_in();
    while (in.must_wait(puts)) {
      in.goes_out();
      auto told = co_await within(no_or_short_time(random), in.wait(*held, puts));
      in.comes_in();
      if (!told && told.error() != std::errc::timed_out) break;
    }
    in.move(puts);
    in.goes_out();
  }
}

// As many put as get.
template <class Store>
std::vector<join_handle<>> spawn_users(hocket::runtime& rt, Store& in, detail::random_engine& random) {
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < crowd; ++i) {
    const std::uint64_t own = random();
    const bool puts = i % 2 == 0;
    if (i % 4 < 2) all.push_back(spawn(rt, use_in_fiber<Store>, std::ref(in), puts, own));
    else all.push_back(spawn(rt, use_in_task<Store>, std::ref(in), puts, own));
  }
  return all;
}

// It is never closed: a coroutine without its notification waits for ever.
template <class Store>
void hand_over_in_peace(hocket::runtime& rt, detail::random_engine& random) {
  Store in;
  auto all = spawn_users(rt, in, random);
  wait_for(all);
  in.check();
  REQUIRE(in.items.empty());
  REQUIRE(in.next == 1 + turns * static_cast<int>(crowd) / 2);
}
template <class Store>
void hand_over_and_kill(hocket::runtime& rt, detail::random_engine& random) {
  Store in;
  auto all = spawn_users(rt, in, random);
  cancel_and_kill_some(all, random, crowd);
  {
    auto held = sync_wait(in.enter());
    in.closed = true;
    in.tell_all();
  }
  wait_for(all);
  in.check();
}

// --- a channel

struct traffic {
  explicit traffic(std::size_t places) : lane(places), other(places) {}
  channel<std::unique_ptr<long>> lane, other;
  std::atomic<long> next{1}, in{0}, out{0};
  std::atomic<int> wrong{0};

  void sent(std::unique_ptr<long>& item, long number, bool done) {
    if (done) in += number;
    if (done != (item == nullptr)) ++wrong;
  }
  void received(const std::unique_ptr<long>& item) { out += *item; }
};

void drive_in_fiber(traffic& in, bool sends, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    if (sends) {
      const long number = in.next++;
      auto item = std::make_unique<long>(number);
      auto done = await(within(no_or_short_time(random), in.lane.send(std::move(item))));
      in.sent(item, number, done.has_value());
    } else if (random.below(2) == 0) {
      auto got = await(within(no_or_short_time(random), in.lane.receive()));
      if (got) in.received(*got);
    } else {
      auto got = await(within(no_or_short_time(random), select(in.other.receive(), in.lane.receive())));
      if (got && got->index() == 0) in.received(*got->template get<0>());
      else if (got) in.received(*got->template get<1>());
    }
  }
}
task<> drive_in_task(traffic& in, bool sends, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < turns; ++i) {
    if (!sends) {
      auto got = co_await within(no_or_short_time(random), in.lane.receive());
      if (got) in.received(*got);
      continue;
    }
    const long number = in.next++;
    auto item = std::make_unique<long>(number);
    if (random.below(2) == 0) {
      auto done = co_await within(no_or_short_time(random), in.lane.send(std::move(item)));
      in.sent(item, number, done.has_value());
    } else {  // meets a select from both
      auto done = co_await within(no_or_short_time(random), select(in.lane.send(std::move(item)), in.other.receive()));
      const bool sent = done && done->index() == 0;
      if (done && done->index() == 1) in.received(*done->template get<1>());
      in.sent(item, number, sent);
    }
  }
}

void drive_and_kill(hocket::runtime& rt, detail::random_engine& random, std::size_t places) {
  traffic in(places);
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < crowd; ++i) {
    const std::uint64_t own = random();
    if (i % 4 < 2) all.push_back(spawn(rt, drive_in_fiber, std::ref(in), i % 2 == 0, own));
    else all.push_back(spawn(rt, drive_in_task, std::ref(in), i % 2 == 0, own));
  }
  cancel_and_kill_some(all, random, crowd);
  for (auto& one : all) one.cancel();
  wait_for(all);
  for (auto got = in.lane.try_receive(); got; got = in.lane.try_receive()) in.received(*got);
  REQUIRE(in.wrong == 0);
  REQUIRE(in.out == in.in);
}

}  // namespace

TEST_CASE("no notification of a condition is lost, though waits time out") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    hand_over_in_peace<store<store_with_mutex>>(rt, random);
  });
}

TEST_CASE("no notification of a monitor is lost, though waits time out") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    hand_over_in_peace<store<store_with_monitor>>(rt, random);
  });
}

TEST_CASE("who waits for a condition is alone in its mutex again, also when cancelled or killed") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    hand_over_and_kill<store<store_with_mutex>>(rt, random);
  });
}

TEST_CASE("who waits in a monitor is alone in it again, also when cancelled or killed") {
  in_rounds([](hocket::runtime& rt, detail::random_engine& random) {
    hand_over_and_kill<store<store_with_monitor>>(rt, random);
  });
}

TEST_CASE("what is sent is received once or left, though senders and receivers are cancelled and killed") {
  for (const std::size_t places : {0u, 1u, 4u}) {
    CAPTURE(places);
    in_rounds([places](hocket::runtime& rt, detail::random_engine& random) { drive_and_kill(rt, random, places); });
  }
}
