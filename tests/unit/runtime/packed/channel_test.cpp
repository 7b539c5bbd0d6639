// Items that lie on the stack of a fiber which is not there while the fiber waits: they go through the operation, and
// come back to where they were.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/select.hpp>

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace hocket;

namespace {

using parcel = std::unique_ptr<int>;

void drain(loop& lp) {
  while (lp.step()) hibernate_parked();
}

}  // namespace

TEST_CASE("a fiber whose stack is elsewhere while it waits sends what lies on it, or has it again") {
  for (const bool copied : {false, true}) {
    loop lp;
    spawn_options options;
    if (copied) options.stack = stack_kind::copied;
    else options.hibernate_after = std::chrono::hours(1000);
    channel<parcel> c(0), other(0);
    int sent = 0, kept = 0;
    std::vector<join_handle<>> handles;
    for (int i = 0; i < 4; ++i) {
      handles.push_back(spawn(lp, options, [&, i] {
        parcel item = std::make_unique<int>(i);
        if (i % 2 == 0) {
          auto done = await(c.send(std::move(item)));
          CHECK(done.has_value() != static_cast<bool>(item));
        } else {
          auto done = await(select(other.receive(), c.send(std::move(item))));
          CHECK(done.has_value() != static_cast<bool>(item));
        }
        if (!item) {
          ++sent;
        } else {
          CHECK(*item == i);
          ++kept;
        }
      }));
    }
    drain(lp);
    for (int i : {0, 1}) CHECK(**c.try_receive() == i);
    handles[2].cancel();
    handles[3].cancel();
    drain(lp);
    CHECK(sent == 2);
    CHECK(kept == 2);
  }
}

TEST_CASE("a fiber whose stack is elsewhere while it waits receives a batch onto it") {
  for (const bool copied : {false, true}) {
    loop lp;
    spawn_options options;
    if (copied) options.stack = stack_kind::copied;
    else options.hibernate_after = std::chrono::hours(1000);
    channel<parcel> c(8);
    int sum = 0;
    spawn(lp, options, [&] {
      std::array<parcel, 3> room;
      while (auto n = await(c.receive_batch(room)))
        for (std::size_t i = 0; i < *n; ++i) sum += *room[i];
    });
    drain(lp);
    for (int i = 1; i <= 7; ++i) CHECK(c.try_send(std::make_unique<int>(i)));
    drain(lp);
    c.close();
    drain(lp);
    CHECK(sum == 28);
  }
}
