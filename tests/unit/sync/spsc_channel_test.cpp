// What is wrong with channels between one sender and one receiver, and is found; and many items between two threads.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

script send_to(spsc_channel<int>& to) { static_cast<void>(co_await to.send(1)); }
script receive_from(spsc_channel<int>& from) { static_cast<void>(co_await from.receive()); }

struct early_end {
  std::vector<int> got;
  std::size_t sent = 0;
};

// `items` go from one thread to another through so many places; if `close_at` is not 0, a third closes when so many
// have come.
early_end between_threads(std::size_t places, int items, bool batches, int close_at = 0) {
  spsc_channel<int> c(places);
  early_end end;
  std::thread closer;
  std::atomic<int> come{0};
  if (close_at != 0) {
    closer = std::thread([&] {
      for (int seen; (seen = come.load()) < close_at;) come.wait(seen);
      c.close();
    });
  }
  std::thread sends([&] {
    std::array<int, 5> group;
    for (int n = 0; n < items;) {
      const int k = batches ? std::min(5, items - n) : 1;
      for (int i = 0; i < k; ++i) group[static_cast<std::size_t>(i)] = n + i;
      std::size_t done = 0;
      if (batches) {
        auto some = sync_wait(c.send_batch(std::span(group).first(static_cast<std::size_t>(k))));
        if (!some) return;
        done = *some;
      } else {
        auto one = sync_wait(c.send(n));
        if (!one) return;
        done = 1;
      }
      n += static_cast<int>(done);
      end.sent += done;
    }
    c.close();
  });
  std::array<int, 3> room;
  for (;;) {
    if (batches) {
      auto some = sync_wait(c.receive_batch(room));
      if (!some) break;
      end.got.insert(end.got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*some));
    } else {
      auto one = sync_wait(c.receive());
      if (!one) break;
      end.got.push_back(*one);
    }
    come.store(static_cast<int>(end.got.size()));
    if (close_at != 0) come.notify_one();
  }
  sends.join();
  if (closer.joinable()) closer.join();
  CHECK(c.size() == 0);
  return end;
}

bool in_order(const std::vector<int>& got) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != static_cast<int>(i)) return false;
  return true;
}

}  // namespace

TEST_CASE("a second sender, or receiver, of a spsc_channel at the same time is fatal") {
  auto two = [](bool send) {
    stepped_executor on;
    spsc_channel<int> c(1);
    if (send) CHECK(c.try_send(0));
    script all[] = {send ? send_to(c) : receive_from(c), send ? send_to(c) : receive_from(c)};
    for (auto& one : all) {
      one.start(on, &context::root());
      on.step();
    }
  };
  expect_fatal([&] { two(true); }, "two coroutines sent through a spsc_channel at the same time");
  expect_fatal([&] { two(false); }, "two coroutines received from a spsc_channel at the same time");
}

TEST_CASE("one that sends or receives while another one waits to do it is fatal") {
  if (!detail::debug_checks) return;
  auto beside = [](bool send) {
    stepped_executor on;
    spsc_channel<int> c(1);
    if (send) CHECK(c.try_send(0));
    script waits = send ? send_to(c) : receive_from(c);
    waits.start(on, &context::root());
    on.step();
    if (send) static_cast<void>(c.try_send(1));
    else static_cast<void>(c.try_receive());
  };
  expect_fatal([&] { beside(true); }, "two coroutines sent through a spsc_channel at the same time");
  expect_fatal([&] { beside(false); }, "two coroutines received from a spsc_channel at the same time");
}

TEST_CASE("a select that names one end of a spsc_channel twice is fatal") {
  expect_fatal(
      [] {
        spsc_channel<int> c(1);
        static_cast<void>(sync_wait(select(c.receive(), c.receive())));
      },
      "two coroutines received from a spsc_channel at the same time");
}

TEST_CASE("a select that would send one object by a spsc_channel and a channel is fatal") {
  auto twice = [] {
    channel<std::unique_ptr<int>> one(0);
    spsc_channel<std::unique_ptr<int>> other(1);
    auto item = std::make_unique<int>(7);
    [[maybe_unused]] auto done = sync_wait(select(one.send(std::move(item)), other.send(std::move(item))));
  };
  expect_fatal(twice, "a select was to send the same object by two of its operations");
}

TEST_CASE("a spsc_channel without a place is fatal, and so is one that is destroyed while somebody waits") {
  expect_fatal([] { spsc_channel<int> none(0); }, "a ring without a place was made");
  if (!detail::debug_checks) return;
  auto destroy = [] {
    stepped_executor on;
    auto c = std::make_unique<spsc_channel<int>>(1);
    script waits = receive_from(*c);
    waits.start(on, &context::root());
    on.step();
    c.reset();
  };
  expect_fatal(destroy, "a channel was destroyed while it has a waiter");
}

TEST_CASE("a channel of either kind with more places than there can be is fatal") {
  const std::string message = "made with more places than there can be";
  const auto negative = static_cast<std::size_t>(-1);
  for (const std::size_t places : {negative, negative - 1, negative / 2, negative / sizeof(int)}) {
    CAPTURE(places);
    expect_fatal([&] { spsc_channel<int> none(places); }, message);
    expect_fatal([&] { channel<int> none(places); }, message);
    expect_fatal([&] { unsync::channel<std::array<char, 64>> none(places); }, message);
  }
}

TEST_CASE("what is left in a spsc_channel ends with it, and items need not be assignable") {
  struct fixed {
    explicit fixed(std::shared_ptr<int> of) noexcept : what(std::move(of)) {}
    fixed(fixed&&) noexcept = default;
    std::shared_ptr<int> what;
    const int number = 1;
  };
  auto counted = std::make_shared<int>(1);
  {
    spsc_channel<fixed> c(3);
    for (int i = 0; i < 3; ++i) CHECK(c.try_send(fixed(counted)));
    CHECK(c.try_receive());
    CHECK(c.try_send(fixed(counted)));
    CHECK(counted.use_count() == 4);
  }
  CHECK(counted.use_count() == 1);
}

TEST_CASE("items go from thread to thread in order and none is lost, one by one and in batches") {
  constexpr int items = detail::sanitizer == detail::sanitizer_kind::plain ? 100'000 : 10'000;
  for (std::size_t places : {1u, 2u, 7u, 256u}) {
    for (bool batches : {false, true}) {
      const early_end end = between_threads(places, items, batches);
      CHECK(end.sent == static_cast<std::size_t>(items));
      CHECK(end.got.size() == end.sent);
      CHECK(in_order(end.got));
    }
  }
}

TEST_CASE("fault 19: an item that is sent beside a close is received, or not sent") {
  constexpr int rounds = detail::sanitizer == detail::sanitizer_kind::plain ? 300 : 30;
  for (int round = 0; round < rounds; ++round) {
    for (bool batches : {false, true}) {
      const early_end end = between_threads(static_cast<std::size_t>(1 + round % 4), 10'000, batches, 1 + round * 7);
      REQUIRE(end.got.size() == end.sent);
      REQUIRE(in_order(end.got));
    }
  }
}
