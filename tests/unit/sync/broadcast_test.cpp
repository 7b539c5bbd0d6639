// Misuse of broadcasts and watches, which is found; and many items between threads: each sent item was
// received, was reported as lost, or is left.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/watch.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <doctest/doctest.h>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

template <class Receiver>
script receive_from(Receiver& from) {
  static_cast<void>(co_await from.receive());
}

// One receiver, from its first item to its last.
struct tally {
  std::uint64_t got = 0, lost = 0;
  int last = -1;
  bool in_order = true;
};
tally receive_some(broadcast<int>::receiver& mine, std::uint64_t limit) {
  tally all;
  while (all.got < limit) {
    auto item = sync_wait(mine.receive());
    if (item) {
      all.in_order &= *item > all.last;
      all.last = *item;
      ++all.got;
    } else if (auto lost = lagged_by(item.error())) {
      all.lost += lost;
    } else {
      break;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("two coroutines that receive by one receiver are fatal when the second finds nothing") {
  auto twice = [](auto& source, auto publish) {
    stepped_executor on;
    auto mine = source.subscribe();
    static_cast<void>(mine.try_receive());
    script all[] = {receive_from(mine), receive_from(mine)};
    for (auto& one : all) {
      one.start(on, &context::root());
      on.step();
    }
    publish();
    on.run();
  };
  expect_fatal(
      [&] {
        broadcast<int> b(1);
        twice(b, [&] { b.send(1); });
      },
      "two coroutines received by one receiver of a broadcast");
  expect_fatal(
      [&] {
        watch<int> w(0);
        twice(w, [&] { w.set(1); });
      },
      "two coroutines received by one receiver of a watch");
}

TEST_CASE("a broadcast that is destroyed while somebody waits is fatal") {
  if (!detail::debug_checks) return;
  auto destroy = [] {
    stepped_executor on;
    auto b = std::make_unique<broadcast<int>>(1);
    auto mine = b->subscribe();
    script waits = receive_from(mine);
    waits.start(on, &context::root());
    on.step();
    b.reset();
  };
  expect_fatal(destroy, "a watch or a broadcast was destroyed while it has a waiter");
}

TEST_CASE("a broadcast without a place, and a close without an error, are fatal") {
  expect_fatal([] { broadcast<int> none(0); }, "a ring without a place was made");
  expect_fatal([] { broadcast<int> none(static_cast<std::size_t>(-1)); }, "made with more places than there can be");
  expect_fatal([] { watch<int>(1).close(std::error_code{}); },
               "a watch or a broadcast was closed with an error code that means success");
}

TEST_CASE("the error of a receiver that is late says how many items, and is of no other kind") {
  CHECK(lagged_by(detail::lag_error(3)) == 3);
  CHECK(detail::lag_error(3).message() == "items of a broadcast were lost to a receiver that was late: 3");
  CHECK(lagged_by(detail::lag_error(std::uint64_t{1} << 40)) == INT_MAX);
  CHECK(detail::lag_error(1) == std::errc::no_buffer_space);
  CHECK(lagged_by(std::make_error_code(std::errc::no_buffer_space)) == 0);
  CHECK(lagged_by(std::error_code{}) == 0);
}

TEST_CASE("what is left in a broadcast ends with it") {
  auto counted = std::make_shared<int>(1);
  for (int items : {1, 3, 7}) {
    broadcast<std::shared_ptr<int>> b(3);
    for (int n = 0; n < items; ++n) b.send(counted);
    CHECK(counted.use_count() == 1 + std::min(items, 3));
  }
  CHECK(counted.use_count() == 1);
}

TEST_CASE("beside other threads each item of a broadcast is received, told lost, or left") {
  constexpr int items = detail::sanitizer == detail::sanitizer_kind::plain ? 50'000 : 5'000;
  for (std::size_t places : {1u, 4u, 1024u}) {
    broadcast<int> b(places);
    std::atomic<int> here{0};
    std::vector<std::thread> receivers;
    for (int i = 0; i < 3; ++i) {
      receivers.emplace_back([&, i] {
        auto mine = b.subscribe();
        here.fetch_add(1);
        here.notify_one();
        const tally all = receive_some(mine, i == 0 ? items / 10 : static_cast<std::uint64_t>(-1));
        CHECK(all.in_order);
        CHECK(all.lost == mine.lost());
        // One leaves early, and returns for its remaining items.
        const tally rest = receive_some(mine, static_cast<std::uint64_t>(-1));
        CHECK(mine.size() == 0);
        CHECK(all.got + rest.got + mine.lost() == static_cast<std::uint64_t>(items));
      });
    }
    for (int seen; (seen = here.load()) < 3;) here.wait(seen);
    for (int n = 0; n < items; ++n) CHECK(b.send(n));
    b.close();
    for (auto& one : receivers) one.join();
  }
}

TEST_CASE("beside other threads each item of a batch is received in order, told lost, or left") {
  constexpr int batches = detail::sanitizer == detail::sanitizer_kind::plain ? 20'000 : 2'000;
  for (std::size_t places : {1u, 5u, 1024u}) {
    broadcast<int> b(places);
    std::atomic<int> here{0};
    std::atomic<std::uint64_t> items{0};
    std::vector<std::thread> receivers;
    for (int i = 0; i < 3; ++i) {
      receivers.emplace_back([&] {
        auto mine = b.subscribe();
        here.fetch_add(1);
        here.notify_one();
        std::array<int, 4> room;
        std::uint64_t got = 0;
        bool in_order = true;
        for (;;) {
          auto n = sync_wait(mine.receive_batch(room));
          for (std::size_t at = 0; n && at < *n; ++at, ++got)
            in_order &= room[at] == static_cast<int>(got + mine.lost());
          if (!n && lagged_by(n.error()) == 0) break;
        }
        CHECK(in_order);
        CHECK(got + mine.lost() == items.load());
      });
    }
    for (int seen; (seen = here.load()) < 3;) here.wait(seen);
    int next = 0;
    for (int i = 0; i < batches; ++i) {
      std::array<int, 7> batch;
      const auto size = static_cast<std::size_t>(i % 8);
      for (std::size_t at = 0; at < size; ++at) batch[at] = next++;
      CHECK(b.send_batch(std::span(batch).first(size)));
    }
    items.store(static_cast<std::uint64_t>(next));
    b.close();
    for (auto& one : receivers) one.join();
  }
}

TEST_CASE("beside other threads who watches sees values in order, and the last one") {
  constexpr int values = detail::sanitizer == detail::sanitizer_kind::plain ? 50'000 : 5'000;
  watch<int> w(0);
  std::vector<std::thread> receivers;
  for (int i = 0; i < 3; ++i) {
    receivers.emplace_back([&] {
      auto mine = w.subscribe();
      int last = -1;
      bool in_order = true;
      for (;;) {
        auto value = sync_wait(mine.receive());
        if (!value) break;
        in_order &= *value > last;
        last = *value;
      }
      CHECK(in_order);
      CHECK(last == values);
    });
  }
  for (int n = 1; n <= values; ++n) CHECK(w.set(n));
  w.close();
  for (auto& one : receivers) one.join();
}
