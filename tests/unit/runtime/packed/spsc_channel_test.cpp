// Items that lie on the stack of a fiber which is not there while the fiber waits: they stay there until there is a
// place for them, and are received onto it.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include <array>
#include <doctest/doctest.h>
#include <memory>

using namespace hocket;

namespace {

using parcel = std::unique_ptr<int>;

void drain(loop& lp) {
  while (lp.step()) hibernate_parked();
}

}  // namespace

TEST_CASE("one to one: fibers whose stacks are elsewhere while they wait send and receive what lies on them") {
  for (const bool copied : {false, true}) {
    loop lp;
    spawn_options options;
    if (copied) options.stack = stack_kind::copied;
    else options.hibernate_after = std::chrono::hours(1000);
    spsc_channel<parcel> c(2);
    int kept = 0, sum = 0;
    auto sender = spawn(lp, options, [&] {
      std::array<parcel, 5> batch;
      for (int i = 0; i < 5; ++i) batch[static_cast<std::size_t>(i)] = std::make_unique<int>(i + 1);
      for (std::size_t sent = 0; sent < batch.size();) {
        auto n = await(c.send_batch(std::span(batch).subspan(sent)));
        REQUIRE(n);
        sent += *n;
      }
      for (int i = 6;; ++i) {
        parcel item = std::make_unique<int>(i);
        auto sent = await(c.send(std::move(item)));
        CHECK(sent.has_value() != static_cast<bool>(item));
        if (!sent) {
          kept = *item;
          break;
        }
      }
    });
    drain(lp);
    CHECK(c.size() == 2);
    auto receiver = spawn(lp, options, [&] {
      std::array<parcel, 3> room;
      for (int left = 3; left != 0;) {
        auto n = await(c.receive_batch(std::span(room).first(static_cast<std::size_t>(left))));
        REQUIRE(n);
        for (std::size_t i = 0; i < *n; ++i) sum += *room[i];
        left -= static_cast<int>(*n);
      }
      for (int i = 4; i <= 9; ++i) {
        auto one = await(c.receive());
        REQUIRE(one);
        sum += **one;
      }
    });
    drain(lp);
    CHECK(sum == 45);
    CHECK(c.size() == 2);
    sender.cancel();
    drain(lp);
    CHECK(kept == 12);
    for (int i : {10, 11}) CHECK(**c.try_receive() == i);
  }
}
