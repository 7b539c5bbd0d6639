// The broadcast, for every kind.
#pragma once
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/select.hpp>

#include "suites/every_step.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

namespace hocket_test {

template <class Kind, class T>
using broadcast_of = hocket::basic_broadcast<typename Kind::strength, T>;

// What one receiver came by.
struct received_items {
  std::vector<int> got;
  std::vector<std::size_t> lags;
  std::error_code end;
};
template <class Kind>
auto receive_all(broadcast_of<Kind, int>& from, received_items& into) {
  return [&from, &into]() -> typename Kind::body {
    auto mine = from.subscribe();
    for (;;) {
      auto item = co_await mine.receive();
      if (item) {
        into.got.push_back(*item);
      } else if (auto lost = hocket::lagged_by(item.error())) {
        into.lags.push_back(lost);
      } else {
        into.end = item.error();
        break;
      }
    }
  };
}

TEST_CASE_TEMPLATE("every receiver that keeps up gets every item in order, until the broadcast is closed", Kind,
                   HOCKET_SUITE_KINDS) {
  broadcast_of<Kind, int> b(2);
  received_items of[3];
  Kind world;
  for (auto& one : of) world.start(receive_all<Kind>(b, one));
  world.settle();
  for (int n = 0; n < 7; ++n) {
    CHECK(b.send(n));
    world.settle();
  }
  CHECK(b.close());
  CHECK_FALSE(b.close(std::make_error_code(std::errc::io_error)));
  CHECK_FALSE(b.send(7));
  world.settle();
  for (auto& one : of) {
    CHECK(one.got == std::vector{0, 1, 2, 3, 4, 5, 6});
    CHECK(one.lags.empty());
    CHECK(one.end == hocket::errc::closed);
    CHECK(one.end == std::errc::broken_pipe);
  }
}

TEST_CASE_TEMPLATE("a receiver that is late is told how many items it lost, and goes on with the oldest", Kind,
                   HOCKET_SUITE_KINDS) {
  const auto why = std::make_error_code(std::errc::host_unreachable);
  broadcast_of<Kind, int> b(3);
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto mine = b.subscribe();
    for (int n = 0; n < 8; ++n) b.send(n);
    CHECK(mine.size() == 3);
    CHECK(mine.lost() == 0);
    auto first = co_await mine.receive();
    CHECK(hocket::lagged_by(first.error()) == 5);
    CHECK(first.error() == std::errc::no_buffer_space);
    CHECK(mine.lost() == 5);
    auto oldest = co_await mine.receive();
    CHECK(*oldest == 5);
    auto copy = mine;
    b.send(8);
    b.send(9);
    b.close(why);
    auto again = co_await mine.receive();
    CHECK(hocket::lagged_by(again.error()) == 1);
    CHECK(mine.lost() == 6);
    for (int n = 7; n <= 9; ++n) {
      auto item = co_await mine.receive();
      CHECK(*item == n);
    }
    auto end = co_await mine.receive();
    CHECK(end.error() == why);
    CHECK(hocket::lagged_by(end.error()) == 0);
    CHECK(copy.size() == 3);
    CHECK(copy.lost() == 5);
    CHECK(hocket::lagged_by(copy.try_receive().error()) == 1);
    CHECK(*copy.try_receive() == 7);
  };
  int only = world.start(body);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("a receiver gets what is sent after it came, and leaves when it likes", Kind, HOCKET_SUITE_KINDS) {
  broadcast_of<Kind, std::shared_ptr<int>> b(4);
  auto item = std::make_shared<int>(1);
  Kind world;
  auto body = [&]() -> typename Kind::body {
    CHECK(b.send(item));
    std::optional early(b.subscribe());
    CHECK(early->try_receive().error() == std::errc::resource_unavailable_try_again);
    CHECK(b.send(item));
    auto late = b.subscribe();
    CHECK(b.send(item));
    CHECK(early->size() == 2);
    CHECK(late.size() == 1);
    early.reset();
    auto got = co_await late.receive();
    CHECK(*got == item);
    CHECK(late.try_receive().error() == std::errc::resource_unavailable_try_again);
  };
  world.start(body);
  world.settle();
  CHECK(item.use_count() == 4);
  for (int n = 0; n < 4; ++n) CHECK(b.send(nullptr));
  CHECK(item.use_count() == 1);
}

TEST_CASE_TEMPLATE("faults 12, 13: a receiver of a broadcast whose wait is ended has taken nothing, and others go on",
                   Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    broadcast_of<Kind, int> b(2);
    auto shared = b.subscribe();
    std::error_code error;
    int other = 0;
    Kind world;
    auto receive = [&]() -> typename Kind::body {
      auto item = co_await within(10ms, shared.receive());
      error = item ? std::error_code{} : item.error();
    };
    auto wait = [&]() -> typename Kind::body {
      auto mine = b.subscribe();
      auto item = co_await mine.receive();
      other = *item;
    };
    int head = world.start(receive);
    world.start(wait);
    world.settle();
    if (how == 0) world.cancel(head);
    if (how == 1) world.kill(head);
    if (how == 2) world.pass(10ms);
    CHECK(b.send(7));
    world.settle();
    CHECK(world.ended(head) == (how == 1 ? fate::killed : fate::ended));
    if (how == 0 && takes_turns<Kind>) CHECK(error == std::errc::operation_canceled);
    if (how == 2) CHECK(error == std::errc::timed_out);
    CHECK(other == 7);
    if (how == 1 || error) CHECK(*shared.try_receive() == 7);
  }
}

TEST_CASE_TEMPLATE("a select takes an item of one broadcast, and the lag or the end of one", Kind, HOCKET_SUITE_KINDS) {
  broadcast_of<Kind, int> a(1), b(1);
  std::vector<int> seen;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    auto from_a = a.subscribe(), from_b = b.subscribe();
    for (;;) {
      auto got = co_await select(from_a.receive(), from_b.receive());
      REQUIRE(got);
      if (got->index() == 0) {
        auto& item = got->template get<0>();
        if (!item) break;
        seen.push_back(*item);
        b.send(10 * *item);
        if (*item == 2) b.send(30);
      } else {
        auto& item = got->template get<1>();
        seen.push_back(item ? *item : -static_cast<int>(hocket::lagged_by(item.error())));
      }
    }
  };
  int only = world.start(choose);
  world.settle();
  for (int n : {1, 2}) {
    a.send(n);
    world.settle();
  }
  a.close();
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(seen == std::vector{1, 10, 2, -1, 30});
}

// Items with an end, and a copy that throws on demand.
struct fragile_item {
  explicit fragile_item(std::shared_ptr<int> of) noexcept : counted(std::move(of)) {}
  fragile_item(const fragile_item& other) : counted(other.counted) {
    if (*counted < 0) throw 7;
  }
  fragile_item(fragile_item&&) noexcept = default;
  fragile_item& operator=(const fragile_item&) = default;
  fragile_item& operator=(fragile_item&&) noexcept = default;
  std::shared_ptr<int> counted;
};

TEST_CASE_TEMPLATE("what the copy for a receiver throws leaves its receive, and the item is there still", Kind,
                   HOCKET_SUITE_KINDS) {
  auto counted = std::make_shared<int>(-1);
  {
    broadcast_of<Kind, fragile_item> b(3);
    int caught = 0;
    Kind world;
    auto body = [&]() -> typename Kind::body {
      auto mine = b.subscribe();
      CHECK(b.send(fragile_item(counted)));
      try {
        auto item = co_await mine.receive();
        static_cast<void>(item);
      } catch (int n) {
        caught = n;
      }
      *counted = 1;
      auto item = co_await mine.receive();
      CHECK(item->counted == counted);
    };
    world.start(body);
    world.settle();
    CHECK(caught == 7);
  }
  CHECK(counted.use_count() == 1);
}

// Two receive until the end, one beside the sender's items; each gets all, or the number of its lost items.
template <class Kind>
class broadcast_play : public stage<Kind> {
 public:
  static constexpr int actors = 2, acts = 8;

  explicit broadcast_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto& mine = mine_[self];
      for (;;) {
        auto item = co_await this->limited(self, mine.receive());
        if (item) {
          CHECK(*item == come_[self] + static_cast<int>(mine.lost()));
          ++come_[self];
        } else if (item.error() == hocket::errc::closed) {
          this->got(self);
          break;
        } else if (hocket::lagged_by(item.error()) == 0) {
          break;
        }
      }
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 4 == 3) world.settle();
    else if (b_.send(sent_)) ++sent_;
  }
  void close() {
    CHECK(b_.close());
    world.settle();
    // Each sent item was received, reported as lost, or is left for a receiver that has ended.
    for (int self = 0; self < actors; ++self) {
      while (mine_[self].size() != 0) come_[self] += mine_[self].try_receive() ? 1 : 0;
      CHECK(come_[self] + static_cast<int>(mine_[self].lost()) == sent_);
    }
  }

 private:
  broadcast_of<Kind, int> b_{2};
  typename broadcast_of<Kind, int>::receiver mine_[actors]{b_.subscribe(), b_.subscribe()};
  int sent_ = 0;
  std::atomic<int> come_[actors]{};

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("a broadcast at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<broadcast_play<Kind>>(); }

}  // namespace hocket_test
