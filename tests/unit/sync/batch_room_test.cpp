// What a batch takes the place of, in the room that it is received into, may use the channel as it ends.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <memory>

using namespace hocket;

namespace {

struct caller {
  std::function<void()> at_end;
  ~caller() {
    if (at_end) at_end();
  }
};
using item = std::shared_ptr<caller>;

item calling(std::function<void()> at_end) {
  auto made = std::make_shared<caller>();
  made->at_end = std::move(at_end);
  return made;
}

}  // namespace

TEST_CASE("what a batch of a broadcast takes the place of may use it as it ends") {
  int ends = 0;
  bool over = false;
  broadcast<item> b(2);
  auto mine = b.subscribe();
  const auto uses_it = [&] {
    if (over) return;
    ++ends;
    CHECK(b.subscribe().size() == 0);
  };
  std::array<item, 2> room;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) CHECK(b.send(calling(uses_it)));
    CHECK(*sync_wait(mine.receive_batch(room)) == 2);
    CHECK(ends == 2 * round);
  }
  over = true;
}

TEST_CASE("what a batch of a channel takes the place of may use it as it ends") {
  int ends = 0;
  channel<item> c(2);
  const auto uses_it = [&] {
    ++ends;
    CHECK(c.try_receive().error() == std::errc::resource_unavailable_try_again);
  };
  std::array<item, 2> room;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) CHECK(sync_wait(c.send(calling(uses_it))));
    CHECK(*sync_wait(c.receive_batch(room)) == 2);
    CHECK(ends == 2 * round);
  }
}
