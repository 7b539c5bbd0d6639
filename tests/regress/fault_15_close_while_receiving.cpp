// FAULTS 15: a queue is shut down while somebody is about to wait at it, and hangs for ever (libcoro#399, #388, #324).
// Two threads walk along a row of channels, side by side: one waits to receive, or to send, the other one closes. Half
// a million times in a plain build; each wait ends, with the error.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/channel.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

constexpr int rows = sanitizer == sanitizer_kind::plain ? 250 : 20;
constexpr std::size_t row = 1000;

template <class Wait>
int close_beside(Wait wait) {
  int failed = 0;
  for (int i = 0; i < rows; ++i) {
    std::vector<std::optional<channel<int>>> channels(row);
    for (auto& one : channels) one.emplace(0u);
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
  return failed;
}

}  // namespace

TEST_CASE("fault 15: a close beside a receive or a send ends that, always") {
  CHECK(close_beside([](channel<int>& c) { return sync_wait(c.receive()).error(); }) == rows * static_cast<int>(row));
  CHECK(close_beside([](channel<int>& c) { return sync_wait(c.send(1)).error(); }) == rows * static_cast<int>(row));
}
