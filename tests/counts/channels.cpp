// An item that one coroutine sends and receives itself: see operations.cpp.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include "still_loop.hpp"

using hocket::await, hocket::spawn, hocket::task;
using std::size_t;

namespace counts {
namespace {

template <class Channel>
void item_in_fiber(size_t k) {
  Channel items(8);
  still_loop on;
  spawn(on.loop, [&items, k] {
    for (size_t i = 0; i < k; ++i) {
      must(await(items.send(i)).has_value(), "a send was not done");
      must(await(items.receive()) == i, "an item was not received");
    }
  });
}
template <class Channel>
void item_in_task(size_t k) {
  Channel items(8);
  still_loop on;
  spawn(on.loop, [&items, k]() -> task<void> {
    for (size_t i = 0; i < k; ++i) {
      auto sent = co_await items.send(i);
      must(sent.has_value(), "a send was not done");
      auto item = co_await items.receive();
      must(item == i, "an item was not received");
    }
  });
}

}  // namespace

void channel_item_in_fiber(size_t k) { item_in_fiber<hocket::channel<size_t>>(k); }
void channel_item_in_task(size_t k) { item_in_task<hocket::channel<size_t>>(k); }
void spsc_channel_item_in_task(size_t k) { item_in_task<hocket::spsc_channel<size_t>>(k); }

}  // namespace counts
