// A select that begins again because a granted arm of I/O found nothing whole: what its other arms had begun is given
// back before, and stays as exact as in a select that waits once.
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/sleep.hpp>

#include "support/sockets.hpp"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <unistd.h>

using namespace hocket;
using namespace std::chrono_literals;
using hocket_test::connected;

namespace {

// A reader whose peer sends the parts of a line one by one, so that a select of it begins again with each.
struct dribbling_reader {
  loop lp;
  hocket_test::stream_pair wires = connected();
  buffered_reader<stream> reader{wires.near};

  void dribble(int parts) {
    for (int i = 0; i < parts; ++i) {
      for (int turn = 0; turn < 8; ++turn) lp.poll();
      REQUIRE(::write(wires.far.native_handle(), "x", 1) == 1);
    }
    for (int turn = 0; turn < 8; ++turn) lp.poll();
  }
};

}  // namespace

TEST_CASE("an object that is sent beside a message in parts is sent once, or comes back") {
  for (const bool is_received : {true, false}) {
    CAPTURE(is_received);
    dribbling_reader from;
    channel<std::unique_ptr<std::string>> line(0);
    auto object = std::make_unique<std::string>("object");
    std::optional<std::size_t> index;
    auto ended = spawn(from.lp, [&]() -> task<> {
      auto first = co_await select(line.send(std::move(object)), from.reader.read_line());
      index = first->index();
    });
    from.dribble(5);
    CHECK_FALSE(index);
    if (is_received) {
      std::unique_ptr<std::string> received;
      auto receives = spawn(from.lp, [&]() -> task<> {
        auto item = co_await line.receive();
        received = std::move(*item);
      });
      from.lp.run_until(receives);
      REQUIRE(received != nullptr);
      CHECK(*received == "object");
    } else {
      REQUIRE(::write(from.wires.far.native_handle(), "\n", 1) == 1);
    }
    from.lp.run_until(ended);
    CHECK(index == (is_received ? std::size_t{0} : std::size_t{1}));
    if (!is_received) CHECK((object && *object == "object"));
  }
}

TEST_CASE("a sleep beside a message in parts ends when it would have ended without them") {
  dribbling_reader from;
  std::optional<std::size_t> index;
  const time_point begin = from.lp.now();
  time_point end;
  auto ended = spawn(from.lp, [&]() -> task<> {
    auto first = co_await select(from.reader.read_line(), sleep_for(20ms));
    index = first->index();
    end = from.lp.now();
  });
  while (!ended.done()) from.dribble(1);  // without end, if each part begins the sleep again
  CHECK(index == std::size_t{1});
  CHECK(end >= begin + 20ms);
}

TEST_CASE("waits for a lock, an event and a descriptor beside a message in parts are whole") {
  dribbling_reader from;
  pipe_ends ends = make_pipe().value();
  mutex lock;
  event news;
  auto held = lock.try_lock();
  int waits = 0;
  auto ended = spawn(from.lp, [&]() -> task<> {
    auto first = co_await select(lock.lock(), from.reader.read_line());
    waits += first->index() == 0;
    first->get<0>()->unlock();
    auto second = co_await select(news.wait(), from.reader.read_line());
    waits += second->index() == 0;
    auto third = co_await select(poll_fd(ends.reader.native_handle(), POLLIN), from.reader.read_line());
    waits += third->index() == 0;
    auto line = co_await from.reader.read_line();
    waits += line->value().size() == 9;
  });
  from.dribble(3);
  held.unlock();
  from.dribble(3);
  news.set();
  from.dribble(3);
  REQUIRE(::write(ends.writer.native_handle(), "x", 1) == 1);
  for (int turn = 0; turn < 8; ++turn) from.lp.poll();
  REQUIRE(::write(from.wires.far.native_handle(), "\n", 1) == 1);
  from.lp.run_until(ended);
  CHECK(waits == 4);
}

TEST_CASE("a long message lets others run between its reads") {
  loop lp;
  auto wires = connected();
  buffered_reader reader(wires.near, 1 << 24);
  std::size_t size = 0;
  int turns_of_others = 0;
  const std::string much(1 << 22, 'm');
  auto writes = spawn(lp, [&]() -> task<> {
    auto written = co_await wires.far.write_all(much);
    CHECK(written == much.size());
  });
  auto reads = spawn(lp, [&]() -> task<> {
    auto record = co_await reader.read_exactly(much.size());
    size = record->size();
  });
  while (!reads.done()) {
    lp.poll();
    ++turns_of_others;
  }
  lp.run_until(writes);
  CHECK(size == much.size());
  CHECK(turns_of_others > 1);
}

TEST_CASE("a child that ignores cancels leaves its bytes if a cancel has decided its group") {
  loop lp;
  auto wires = connected();
  event never;
  std::array<char, 8> buffer{};
  std::size_t index = 2;
  auto waits = spawn(lp, [&]() -> task<> {
    auto first = co_await when_any(wires.near.read_some(buffer).ignoring(stop_level::cancel), never.wait());
    index = first.index();
  });
  for (int turn = 0; turn < 8; ++turn) lp.poll();
  waits.cancel();
  for (int turn = 0; turn < 8; ++turn) lp.poll();
  CHECK_FALSE(waits.done());
  REQUIRE(::write(wires.far.native_handle(), "xyz", 3) == 3);
  lp.run_until(waits);
  CHECK(index == 1);
  CHECK(try_select(wires.near.read_some(buffer))->get<0>() == std::size_t{3});
}
