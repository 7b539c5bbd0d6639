// FAULTS 19: a channel is closed while senders and receivers wait at it. All are released, the waiters with an
// error, and no item is lost: each sent item was received or is left in the channel, and a sender
// that failed has its item.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/channel.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <vector>

using namespace hocket;

namespace {

constexpr int rounds = detail::sanitizer == detail::sanitizer_kind::plain ? 2000 : 60;
constexpr int items_each = 20;

struct tally {
  std::atomic<int> sent{0}, kept{0}, received{0}, made{0};
};
using items = channel<std::unique_ptr<int>>;

task<> send_all(items& c, tally& counts) {
  for (int i = 0; i < items_each; ++i) {
    auto item = std::make_unique<int>(i);
    ++counts.made;
    auto sent = co_await c.send(std::move(item));
    if (sent) {
      ++counts.sent;
    } else {
      if (item && *item == i) ++counts.kept;
      co_return;
    }
  }
}
task<> receive_all(items& c, tally& counts, int limit, int close_at) {
  for (int i = 0; i < limit; ++i) {
    auto item = co_await c.receive();
    if (!item) co_return;
    if (++counts.received == close_at) c.close();
  }
}

}  // namespace

TEST_CASE("fault 19: a channel that is closed under those who wait releases all, and loses no item") {
  for (const std::size_t workers : {1u, 2u, 4u}) {
    runtime rt({.workers = workers});
    for (int round = 0; round < rounds; ++round) {
      items c(static_cast<std::size_t>(round % 3));
      tally counts;
      std::vector<join_handle<>> handles;
      for (int i = 0; i < 3; ++i) {
        handles.push_back(spawn(rt, send_all, std::ref(c), std::ref(counts)));
        handles.push_back(spawn(rt, receive_all, std::ref(c), std::ref(counts), 10 + i, round % 25 + 1));
      }
      for (auto& one : handles) sync_wait(std::move(one));
      int left = 0;
      while (c.try_receive()) ++left;
      REQUIRE(c.is_closed());
      REQUIRE(counts.sent == counts.received + left);
      REQUIRE(counts.made == counts.sent + counts.kept);
    }
  }
}
