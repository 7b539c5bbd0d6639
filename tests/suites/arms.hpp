// Operations of one system call as arms of a select and of when_any, for every kind that waits for I/O. An item in
// the turn of another arm stays where it is: each item is received exactly once.
#pragma once
#include <hocket/coro/when_any.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include "suites/net_kinds.hpp"
#include "support/loopback.hpp"
#include "support/waits.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <string_view>
#include <vector>

namespace hocket_test {

using namespace std::chrono_literals;

// Way a test waits for one of two.
enum class choosing { select, select_first, select_last, any_first, any_last };
inline constexpr choosing all_choosings[] = {choosing::select, choosing::select_first, choosing::select_last,
                                             choosing::any_first, choosing::any_last};

// The items of one kind of operation: `make` makes one ready, `operation` receives it, `take` says whether the result
// is an item.
struct arm_of_accept {
  template <class Wires>
  explicit arm_of_accept(Wires& net) : door(listen(net, "127.0.0.1:0").value()) {}
  template <class Wires>
  hocket::task<> make(Wires& net) {
    auto peer = co_await connect(net, door.local_address());
    REQUIRE(peer.has_value());
    peers.push_back(std::move(*peer));
  }
  auto operation() { return door.accept(); }
  static bool is_item(const hocket::result<hocket::tcp::stream>& accepted) { return accepted.has_value(); }

  hocket::tcp::listener door;
  std::vector<hocket::tcp::stream> peers;
};

enum class reading { some, parts, borrowed, idle };

template <reading Way>
struct arm_of_read {
  template <class Wires>
  explicit arm_of_read(Wires& net) : wires(net.connected()) {}
  template <class Wires>
  hocket::task<> make(Wires&) {
    auto written = co_await wires.far.write_all("x");
    CHECK(written == std::size_t{1});
  }
  auto operation() {
    if constexpr (Way == reading::some) return wires.near.read_some(buffer);
    else if constexpr (Way == reading::parts)
      return wires.near.read_some(std::span<const hocket::mutable_buffer>(parts));
    else if constexpr (Way == reading::borrowed) return wires.near.read_borrowed();
    else return wires.near.read_idle();
  }
  static bool is_item(const hocket::result<std::size_t>& size) { return size == std::size_t{1}; }
  static bool is_item(const hocket::result<hocket::borrowed_bytes>& bytes) { return bytes && bytes->size() == 1; }

  stream_pair wires;
  std::array<char, 1> buffer{};
  std::array<hocket::mutable_buffer, 1> parts{buffer};
};

template <bool Batch>
struct arm_of_receive {
  template <class Wires>
  explicit arm_of_receive(Wires& net)
      : door(bind_datagrams(net, "127.0.0.1:0").value()),
        client(connect_datagrams(net, door.local_address()).value()) {}
  template <class Wires>
  hocket::task<> make(Wires&) {
    auto sent = co_await client.send("x");
    CHECK(sent == std::size_t{1});
  }
  auto operation() {
    if constexpr (Batch) return door.receive_batch(batch);
    else return door.receive(buffer);
  }
  static bool is_item(const hocket::result<std::size_t>& count) { return count == std::size_t{1}; }
  static bool is_item(const hocket::result<hocket::udp::received_datagram>& datagram) {
    return datagram && datagram->size == 1;
  }

  hocket::udp::socket door, client;
  std::array<char, 4> buffer{};
  std::array<hocket::udp::datagram, 1> batch{hocket::udp::datagram(hocket::mutable_buffer(buffer))};
};

// The first of an item and an event.
struct first_seen {
  bool is_item = false, is_event = false;
};
template <class Arm, std::size_t ItemIndex, class Choice>
first_seen seen_in(Choice& first) {
  if (first.index() != ItemIndex) return {.is_event = true};
  return {.is_item = Arm::is_item(first.template get<ItemIndex>())};
}

// Each round makes an item and sets the event in one turn. The waiting coroutine selects until it has both.
template <class Kind, class Arm>
struct items_beside_events {
  static constexpr int rounds = 20;

  auto waiting_body(choosing way) {
    return [this, way]() -> typename Kind::body {
      for (int round = 1; round <= rounds;) {
        first_seen seen;
        if (way == choosing::select) {
          auto first = co_await select(arm.operation(), news.wait());
          seen = seen_in<Arm, 0>(first.value());
        } else if (way == choosing::select_first) {
          auto first = co_await select_in_order(arm.operation(), news.wait());
          seen = seen_in<Arm, 0>(first.value());
        } else if (way == choosing::select_last) {
          auto first = co_await select_in_order(news.wait(), arm.operation());
          seen = seen_in<Arm, 1>(first.value());
        } else if (way == choosing::any_first) {
          auto first = co_await hocket::when_any(arm.operation(), news.wait());
          seen = seen_in<Arm, 0>(first);
        } else {
          auto first = co_await hocket::when_any(news.wait(), arm.operation());
          seen = seen_in<Arm, 1>(first);
        }
        CHECK((seen.is_item || seen.is_event));
        items += seen.is_item;
        events += seen.is_event;
        if (seen.is_event) news.reset();
        if (items != round || events != round) continue;
        ++round;
        is_seen.set();
      }
    };
  }
  auto making_body() {
    return [this]() -> typename Kind::body {
      for (int round = 0; round < rounds; ++round) {
        co_await arm.make(net);
        news.set();
        auto seen = co_await is_seen.wait();
        REQUIRE(seen.has_value());
      }
    };
  }

  typename Kind::wires net{};
  Arm arm{net};
  hocket::event news{};
  hocket::auto_reset_event is_seen{};
  int items = 0, events = 0;
};

template <class Kind, class Arm>
void receive_beside_events(choosing way) {
  items_beside_events<Kind, Arm> both;
  Kind world(both.net);
  const int waiter = world.start(both.waiting_body(way));
  const int maker = world.start(both.making_body());
  world.finish();
  CHECK(world.ended(waiter) == fate::ended);
  CHECK(world.ended(maker) == fate::ended);
  CHECK(both.items == both.rounds);
  CHECK(both.events == both.rounds);
}

#define HOCKET_ARM_CASE(item, Arm)                                                             \
  TEST_CASE_TEMPLATE("an arm that loses leaves " item " where it is", Kind, HOCKET_IO_KINDS) { \
    for (const choosing way : all_choosings) {                                                 \
      CAPTURE(static_cast<int>(way));                                                          \
      receive_beside_events<Kind, Arm>(way);                                                   \
    }                                                                                          \
  }
HOCKET_ARM_CASE("a connection", arm_of_accept)
HOCKET_ARM_CASE("bytes", arm_of_read<reading::some>)
HOCKET_ARM_CASE("bytes for several buffers", arm_of_read<reading::parts>)
HOCKET_ARM_CASE("bytes that are lent", arm_of_read<reading::borrowed>)
HOCKET_ARM_CASE("bytes for an idle read", arm_of_read<reading::idle>)
HOCKET_ARM_CASE("a datagram", arm_of_receive<false>)
HOCKET_ARM_CASE("a batch of datagrams", arm_of_receive<true>)

// One item at a time: the one that is granted and finds nothing waits again, with the deadline that it had.
TEST_CASE_TEMPLATE("of several that select the same bytes one receives them, and the others wait on", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  stream_pair wires = net.connected();
  hocket::event never;
  hocket::semaphore arrived{0};
  std::atomic<int> received{0}, ended{0};
  Kind world(net);
  std::array<int, 4> waiting{};
  auto wait = [&]() -> typename Kind::body {
    std::array<char, 8> buffer{};
    auto first = co_await select(wires.near.read_some(buffer), never.wait());
    if (first) {
      received += first->template get<0>() == std::size_t{1};
      arrived.release();
    } else {
      ended += first.error() == std::errc::operation_canceled;
    }
  };
  for (int& id : waiting) id = world.start(wait);
  auto write = [&]() -> typename Kind::body {
    for (std::size_t i = 0; i < 2; ++i) {
      auto written = co_await wires.far.write_all("x");
      CHECK(written == std::size_t{1});
      auto seen = co_await arrived.acquire();
      REQUIRE(seen.has_value());
      seen->forget();
    }
    for (const int id : waiting) world.cancel(id);
  };
  const int writer = world.start(write);
  world.finish();
  CHECK(world.ended(writer) == fate::ended);
  CHECK(received == 2);
  CHECK(ended == 2);
}

// A deadline, a cancel, a kill, and a close by another end the wait; then the stream can be used on.
TEST_CASE_TEMPLATE("a select of I/O ends by its deadline, a cancel, a kill and a close", Kind, HOCKET_IO_KINDS) {
  enum class ending { deadline, cancel, kill, close };
  for (const ending cause : {ending::deadline, ending::cancel, ending::kill, ending::close}) {
    CAPTURE(static_cast<int>(cause));
    typename Kind::wires net;
    stream_pair wires = net.connected();
    hocket::event never, began;
    std::error_code error;
    Kind world(net);
    auto wait = [&]() -> typename Kind::body {
      std::array<char, 8> buffer{};
      began.set();
      auto first = co_await hocket::within(cause == ending::deadline ? 1ms : 24h,
                                           select(wires.near.read_some(buffer), never.wait()));
      if (!first) error = first.error();
      else error = first->template get<0>().error();
      CHECK(wires.near.partial_read_size() == 0);
    };
    const int waiter = world.start(wait);
    auto end = [&]() -> typename Kind::body {
      auto seen = co_await began.wait();
      CHECK(seen.has_value());
      while (!waits(wires.near)) co_await hocket::yield();
      if (cause == ending::cancel) world.cancel(waiter);
      if (cause == ending::kill) world.kill(waiter);
      if (cause == ending::close) wires.near.close();
    };
    world.start(end);
    world.finish();
    if (cause == ending::deadline) CHECK(error == std::errc::timed_out);
    if (cause == ending::cancel || cause == ending::close) CHECK(error == std::errc::operation_canceled);
    CHECK(world.ended(waiter) == (cause == ending::kill ? fate::killed : fate::ended));
    if (cause == ending::close) continue;
    auto read = [&]() -> typename Kind::body {
      auto written = co_await wires.far.write_all("y");
      CHECK(written == std::size_t{1});
      std::array<char, 1> byte{};
      auto size = co_await wires.near.read_exactly(byte);
      CHECK(size == std::size_t{1});
    };
    world.start(read);
    world.finish();
  }
}

}  // namespace hocket_test
