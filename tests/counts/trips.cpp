// One coroutine sends an item, another sends it back: see operations.cpp.
#include <hocket/coro/spawn.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include "still_loop.hpp"

using hocket::spawn, hocket::task;
using std::size_t;

namespace counts {
namespace {

// One trip is two items through two channels, and two waits.
template <class Channel>
void trip_in_task(size_t k) {
  Channel there(1), back(1);
  still_loop on;
  spawn(on.loop, [&there, &back, k]() -> task<void> {
    for (size_t i = 0; i < k; ++i) {
      auto sent = co_await there.send(i);
      must(sent.has_value(), "a send was not done");
      auto item = co_await back.receive();
      must(item == i, "an item was not received");
    }
  });
  spawn(on.loop, [&there, &back, k]() -> task<void> {
    for (size_t i = 0; i < k; ++i) {
      auto item = co_await there.receive();
      must(item == i, "an item was not received");
      auto sent = co_await back.send(i);
      must(sent.has_value(), "a send was not done");
    }
  });
}

}  // namespace

void channel_trip_in_task(size_t k) { trip_in_task<hocket::channel<size_t>>(k); }
void spsc_channel_trip_in_task(size_t k) { trip_in_task<hocket::spsc_channel<size_t>>(k); }

}  // namespace counts
