// Batches of a broadcast, for every kind.
#pragma once
#include <hocket/sync/select.hpp>

#include "suites/broadcast.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <span>
#include <vector>

namespace hocket_test {

TEST_CASE_TEMPLATE("a batch is sent in one step, and received in as many as there is room for", Kind,
                   HOCKET_SUITE_KINDS) {
  broadcast_of<Kind, int> b(4);
  std::vector<int> got;
  std::vector<std::size_t> sizes;
  std::error_code end;
  Kind world;
  auto receive = [&]() -> typename Kind::body {
    auto mine = b.subscribe();
    std::array<int, 3> room;
    for (;;) {
      auto n = co_await mine.receive_batch(room);
      if (!n) {
        end = n.error();
        break;
      }
      sizes.push_back(*n);
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*n));
    }
  };
  int only = world.start(receive);
  world.settle();
  CHECK(b.send_batch({}));
  world.settle();
  CHECK(sizes.empty());
  for (int from : {0, 4}) {
    std::array items{from, from + 1, from + 2, from + 3};
    CHECK(b.send_batch(items));
    world.settle();
  }
  CHECK(b.send(8));
  b.close();
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(got == std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(sizes == std::vector<std::size_t>{3, 1, 3, 1, 1});
  CHECK(end == hocket::errc::closed);
}

TEST_CASE_TEMPLATE("a batch that has more items than there are places is lost in part, and a receiver is told", Kind,
                   HOCKET_SUITE_KINDS) {
  for (int before : {0, 1, 3, 5}) {
    broadcast_of<Kind, int> b(3);
    Kind world;
    auto body = [&]() -> typename Kind::body {
      for (int n = 0; n < before; ++n) b.send(-1);
      auto mine = b.subscribe();
      std::array items{0, 1, 2, 3, 4, 5, 6};
      CHECK(b.send_batch(items));
      std::array<int, 8> room{};
      auto first = co_await mine.receive_batch(room);
      CHECK(hocket::lagged_by(first.error()) == 4);
      CHECK(mine.lost() == 4);
      auto rest = co_await mine.receive_batch(room);
      REQUIRE(rest.has_value());
      CHECK(std::vector(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*rest)) == std::vector{4, 5, 6});
      auto none = co_await mine.receive_batch(std::span(room).first(0));
      REQUIRE(none.has_value());
      CHECK(*none == 0);
    };
    int only = world.start(body);
    world.settle();
    CHECK(world.ended(only) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("the items of a batch end once each, those that are overwritten in its send", Kind,
                   HOCKET_SUITE_KINDS) {
  auto counted = std::make_shared<int>(1);
  for (std::size_t before : {0u, 1u, 2u, 5u}) {
    for (std::size_t n : {1u, 2u, 3u, 7u}) {
      broadcast_of<Kind, std::shared_ptr<int>> b(3);
      std::vector<std::shared_ptr<int>> first(before, counted), second(n, counted);
      CHECK(b.send_batch(first));
      CHECK(b.send_batch(second));
      for (auto& one : second) CHECK_FALSE(one);
      CHECK(counted.use_count() == 1 + static_cast<long>(std::min<std::size_t>(before + n, 3)));
      b.close();
      second.assign(n, counted);
      CHECK_FALSE(b.send_batch(second));
      CHECK_FALSE(b.send_batch({}));
      for (auto& one : second) CHECK(one == counted);
    }
    CHECK(counted.use_count() == 1);
  }
}

// Whose copy throws, where it is the chosen one.
struct seldom_copied {
  explicit seldom_copied(int n = 0) noexcept : number(n) {}
  seldom_copied(const seldom_copied& other) : number(other.number) {
    if (number == throws_at) throw 7;
  }
  seldom_copied(seldom_copied&&) noexcept = default;
  seldom_copied& operator=(seldom_copied&&) noexcept = default;
  static inline int throws_at = 0;
  int number;
};

TEST_CASE_TEMPLATE("what the copy of an item of a batch throws leaves its receive, and all of them are there still",
                   Kind, HOCKET_SUITE_KINDS) {
  broadcast_of<Kind, seldom_copied> b(3);
  int caught = 0;
  seldom_copied::throws_at = 2;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto mine = b.subscribe();
    std::array items{seldom_copied(1), seldom_copied(2), seldom_copied(3)};
    CHECK(b.send_batch(items));
    std::array<seldom_copied, 3> room;
    try {
      auto n = co_await mine.receive_batch(room);
      static_cast<void>(n);
    } catch (int n) {
      caught = n;
    }
    seldom_copied::throws_at = 0;
    auto n = co_await mine.receive_batch(room);
    REQUIRE(n.has_value());
    CHECK(*n == 3);
    for (int i : {0, 1, 2}) CHECK(room[static_cast<std::size_t>(i)].number == i + 1);
  };
  world.start(body);
  world.settle();
  CHECK(caught == 7);
}

TEST_CASE_TEMPLATE("a select takes a batch of a broadcast, or leaves it", Kind, HOCKET_SUITE_KINDS) {
  broadcast_of<Kind, int> a(2), b(2);
  int from_a = 0, from_b = 0;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    auto at_a = a.subscribe(), at_b = b.subscribe();
    std::array<int, 2> room_a{}, room_b{};
    for (int i = 0; i < 2; ++i) {
      auto got = co_await select(at_a.receive_batch(room_a), at_b.receive_batch(room_b));
      REQUIRE(got);
      if (got->index() == 0) from_a += static_cast<int>(*got->template get<0>());
      else from_b += static_cast<int>(*got->template get<1>());
    }
    CHECK(at_a.size() == 0);
    CHECK(at_b.size() == 0);
  };
  int only = world.start(choose);
  world.settle();
  std::array items{1, 2};
  CHECK(a.send_batch(items));
  CHECK(b.send_batch(items));
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(from_a == 2);
  CHECK(from_b == 2);
}

// Two receive batches until the end, beside the sender's; each gets all, or is told what it lost.
template <class Kind>
class broadcast_batch_play : public stage<Kind> {
 public:
  static constexpr int actors = 2, acts = 8;

  explicit broadcast_batch_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto& mine = mine_[self];
      std::array<int, 2> room;
      for (;;) {
        auto n = co_await this->limited(self, mine.receive_batch(room));
        for (std::size_t i = 0; n && i < *n; ++i) {
          CHECK(room[i] == come_[self] + static_cast<int>(mine.lost()));
          ++come_[self];
        }
        if (n || hocket::lagged_by(n.error()) != 0) continue;
        if (n.error() == hocket::errc::closed) this->got(self);
        break;
      }
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  // Batches of one to four, for which there are three places.
  void act(int n) {
    if (n % 4 == 3) return world.settle();
    std::array items{sent_, sent_ + 1, sent_ + 2, sent_ + 3};
    const int size = 1 + n % 4 + n / 4;
    if (b_.send_batch(std::span(items).first(static_cast<std::size_t>(size)))) sent_ += size;
  }
  void close() {
    CHECK(b_.close());
    world.settle();
    for (int self = 0; self < actors; ++self) {
      while (mine_[self].size() != 0) come_[self] += mine_[self].try_receive() ? 1 : 0;
      CHECK(come_[self] + static_cast<int>(mine_[self].lost()) == sent_);
    }
  }

 private:
  broadcast_of<Kind, int> b_{3};
  typename broadcast_of<Kind, int>::receiver mine_[actors]{b_.subscribe(), b_.subscribe()};
  int sent_ = 0;
  std::atomic<int> come_[actors]{};

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("batches of a broadcast at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<broadcast_batch_play<Kind>>();
}

}  // namespace hocket_test
