// Arms of I/O on one loop, turn by turn: which of two in one turn wins, and what the other leaves.
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>

#include "support/sockets.hpp"
#include "support/tcp_pair.hpp"

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace hocket;
using hocket_test::connected;

namespace {

void write_raw(stream& to, const char* text) {
  const std::string_view words(text);
  REQUIRE(::write(to.native_handle(), words.data(), words.size()) == static_cast<ssize_t>(words.size()));
}
void poll_often(loop& lp) {
  for (int i = 0; i < 8; ++i) lp.poll();
}
std::size_t read_now(stream& from) {
  std::array<char, 8> buffer{};
  auto read = try_select(from.read_some(buffer));
  return read ? read->get<0>().value_or(0) : 0;
}

}  // namespace

// What another thread posts comes before the driver's events in a turn.
TEST_CASE("of an event and a byte in one turn a group takes what comes first, and leaves the byte otherwise") {
  for (const bool event_first : {true, false}) {
    CAPTURE(event_first);
    loop lp;
    auto wires = connected();
    event news;
    std::array<char, 8> buffer{};
    std::size_t index = 2;
    auto ended = spawn(lp, [&]() -> task<> {
      auto first = co_await when_any(news.wait(), wires.near.read_some(buffer));
      index = first.index();
    });
    poll_often(lp);
    write_raw(wires.far, "x");
    if (event_first) {
      news.set();
      lp.run_until(ended);
    } else {
      auto later = spawn(lp, [&]() -> task<> {  // behind the driver's event
        news.set();
        co_return;
      });
      lp.run_until(ended);
    }
    CHECK(index == (event_first ? 0 : 1));
    CHECK(read_now(wires.near) == (event_first ? 1 : 0));
  }
}

TEST_CASE("a line that comes in parts beside events is whole, and its parts are not lost") {
  loop lp;
  auto wires = connected();
  buffered_reader reader(wires.near);
  event news;
  std::vector<std::string> seen;
  auto ended = spawn(lp, [&]() -> task<> {
    while (seen.size() != 6) {
      auto first = co_await select(reader.read_line(), news.wait());
      REQUIRE(first.has_value());
      if (first->index() == 1) {
        news.reset();
        seen.emplace_back("news");
      } else {
        REQUIRE(first->get<0>().has_value());
        seen.emplace_back(first->get<0>()->value_or("end"));
      }
    }
  });
  poll_often(lp);
  write_raw(wires.far, "he");
  poll_often(lp);
  news.set();
  poll_often(lp);
  write_raw(wires.far, "llo\nw");
  poll_often(lp);
  news.set();
  poll_often(lp);
  write_raw(wires.far, "orld\r\nlast");
  poll_often(lp);
  wires.far.close();
  lp.run_until(ended);
  CHECK(seen == std::vector<std::string>{"news", "hello", "news", "world", "last", "end"});
}

TEST_CASE("records, delimiters and first bytes are arms, too") {
  loop lp;
  auto wires = connected();
  buffered_reader reader(wires.near, 16);
  event never;
  std::string seen;
  auto ended = spawn(lp, [&]() -> task<> {
    auto first = co_await select(reader.wait_for_message(), never.wait());
    seen += first->get<0>().value() ? "message " : "end ";
    auto record = co_await select(never.wait(), reader.read_exactly(4));
    seen += std::string(record->get<1>().value()) + " ";
    auto field = co_await select(reader.read_until("--"), never.wait());
    seen += std::string(field->get<0>().value().value()) + " ";
    auto late = co_await select(reader.read_exactly(17), never.wait());
    CHECK(late->get<0>().error() == std::errc::message_size);
    auto rest = co_await select(reader.read_until("--"), never.wait());
    CHECK(rest->get<0>().error() == errc::end_of_stream);
    seen += reader.unread();
  });
  for (const char* part : {"ab", "cd", "field-", "-re", "st"}) {
    poll_often(lp);
    write_raw(wires.far, part);
  }
  poll_often(lp);
  wires.far.close();
  lp.run_until(ended);
  CHECK(seen == "message abcd field rest");
}

TEST_CASE("a count, a signal and the end of a child stay for the next wait if their arm loses") {
  loop lp;
  event_counter counter = event_counter::make().value();
  signal_set signals{SIGUSR2};
  process child = process::start({"true"}).value();
  for (const bool grouped : {false, true}) {
    CAPTURE(grouped);
    event news;
    std::size_t losses = 0;
    auto ended = spawn(lp, [&]() -> task<> {
      for (int i = 0; i < 3; ++i) {
        if (grouped) {
          auto first = co_await when_any(news.wait(), counter.take(), signals.next(), child.wait());
          losses += first.index() == 0;
        } else {
          auto first = co_await select_in_order(news.wait(), counter.take(), signals.next(), child.wait());
          losses += first->index() == 0;
        }
      }
    });
    news.set();
    REQUIRE(counter.add(3).has_value());
    REQUIRE(::raise(SIGUSR2) == 0);
    lp.run_until(ended);
    CHECK(losses == 3);
    auto all = spawn(lp, [&]() -> task<> {
      auto count = co_await counter.take();
      CHECK(count == std::uint64_t{3});
      auto number = co_await signals.next();
      CHECK(number == SIGUSR2);
      auto status = co_await child.wait();
      CHECK(status->code() == 0);
    });
    lp.run_until(all);
  }
}

TEST_CASE("an arm that wins takes a count, a signal and the end of a child, each once") {
  loop lp;
  event_counter counter = event_counter::make().value();
  signal_set signals{SIGUSR2};
  process child = process::start({"sh", "-c", "exit 3"}).value();
  event never;
  std::array<int, 3> wins{};
  auto ended = spawn(lp, [&]() -> task<> {
    for (int i = 0; i < 3; ++i) {
      auto first = co_await select(counter.take(), signals.next(), never.wait());
      if (first->index() == 0) wins[0] += static_cast<int>(*first->get<0>());
      else wins[1] += *first->get<1>() == SIGUSR2;
    }
    auto first = co_await when_any(never.wait(), child.wait());
    wins[2] = first.get<1>()->code();
  });
  for (int i = 0; i < 2; ++i) {
    poll_often(lp);
    REQUIRE(counter.add(2).has_value());
  }
  poll_often(lp);
  REQUIRE(::raise(SIGUSR2) == 0);
  lp.run_until(ended);
  CHECK(wins == std::array{4, 1, 3});
}
