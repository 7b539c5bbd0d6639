// FAULTS 15: a queue is shut down while somebody is about to wait at it, and hangs for ever (libcoro#399, #388, #324).
// Two threads walk along a row of channels, side by side: one waits to receive, or to send, the other one closes. A
// million times in a plain build, and a third of that for the other kinds of channels; each wait ends, with the error.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

constexpr int rows = detail::sanitizer == detail::sanitizer_kind::plain ? 500 : 20;
constexpr std::size_t row = 1000;

template <class Channel, class Wait>
bool close_beside(std::size_t places, int rounds, Wait wait) {
  int failed = 0;
  for (int i = 0; i < rounds; ++i) {
    std::vector<std::optional<Channel>> channels(row);
    for (auto& one : channels) one.emplace(places);
    std::atomic<std::size_t> reached{0};
    std::thread waits([&] {
      for (auto& one : channels) {
        reached.fetch_add(1);
        failed += wait(*one) == errc::closed;
      }
    });
    for (std::size_t at = 0; at < row; ++at) {
      while (reached.load() <= at) std::this_thread::yield();
      channels[at]->close();
    }
    waits.join();
  }
  return failed == rounds * static_cast<int>(row);
}

}  // namespace

TEST_CASE("fault 15: a close beside a receive or a send ends that, always") {
  CHECK(close_beside<channel<int>>(0, rows, [](auto& c) { return sync_wait(c.receive()).error(); }));
  CHECK(close_beside<channel<int>>(0, rows, [](auto& c) { return sync_wait(c.send(1)).error(); }));
}

TEST_CASE("fault 15: a close beside a receive or a send of one to one ends that, always") {
  CHECK(close_beside<spsc_channel<int>>(1, rows / 5, [](auto& c) { return sync_wait(c.receive()).error(); }));
  CHECK(close_beside<spsc_channel<int>>(1, rows / 5, [](auto& c) {
    auto first = c.try_send(1);
    return first ? sync_wait(c.send(2)).error() : first.error();
  }));
}

TEST_CASE("fault 15: a close beside a receive of a broadcast ends that, always") {
  CHECK(close_beside<broadcast<int>>(1, rows / 5, [](auto& b) {
    auto mine = b.subscribe();
    return sync_wait(mine.receive()).error();
  }));
}
