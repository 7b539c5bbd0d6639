// Batches and selects of channels between one sender and one receiver, and who leaves at every step.
#pragma once
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>

#include "suites/every_step.hpp"
#include "suites/spsc_channel.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <vector>

namespace hocket_test {

TEST_CASE_TEMPLATE("one to one: batches go as far as they can without waiting", Kind, HOCKET_SUITE_KINDS) {
  spsc_of<Kind, parcel> c(3);
  for (const std::size_t n : go_in_batches<Kind>(c, 2)) CHECK(n <= 2);
}

TEST_CASE_TEMPLATE("one to one: a batch whose wait is ended, or that finds the end, keeps its items", Kind,
                   HOCKET_SUITE_KINDS) {
  for (bool close : {false, true}) {
    spsc_of<Kind, parcel> c(1);
    CHECK(c.try_send(pack(9)));
    keep_items_of_a_batch<Kind>(c, close);
  }
}

TEST_CASE_TEMPLATE("one to one: a select sends or receives exactly one item, and keeps the others", Kind,
                   HOCKET_SUITE_KINDS) {
  for (int which : {0, 1, 2, 3}) {
    spsc_of<Kind, parcel> out(1), in(1), ending(1);
    CHECK(out.try_send(pack(9)));
    auto mine = pack(1);
    std::optional<std::size_t> index;
    int received = 0;
    Kind world;
    auto choose = [&]() -> typename Kind::body {
      auto got = co_await select(in.receive(), out.send(std::move(mine)), ending.receive());
      if (!got) co_return;
      index = got->index();
      if (*index == 0) received = **got->template get<0>();
      if (*index == 2) CHECK(got->template get<2>().error() == hocket::errc::closed);
    };
    int only = world.start(choose);
    world.settle();
    CHECK_FALSE(index);
    if (which == 0) CHECK(in.try_send(pack(3)));
    if (which == 1) CHECK(**out.try_receive() == 9);
    if (which == 2) ending.close();
    if (which == 3) world.cancel(only);
    world.settle();
    CHECK(world.ended(only) == fate::ended);
    if (which < 3) CHECK(index == static_cast<std::size_t>(which));
    CHECK(static_cast<bool>(mine) == (which != 1));
    CHECK(received == (which == 0 ? 3 : 0));
    CHECK(out.size() == 1);
    CHECK(in.size() == 0);
    // Nobody is left in line: the ends are free for others.
    CHECK(**out.try_receive() == (which == 1 ? 1 : 9));
    CHECK(in.try_send(pack(4)));
    CHECK(**in.try_receive() == 4);
  }
}

// One sends four items through two places, the other one receives them; one of the two waits for a turn before each. If
// one leaves, the test takes its part.
template <class Kind, int slow>
class spsc_play : public stage<Kind> {
 public:
  static constexpr int actors = 2, acts = 8;

  explicit spsc_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      const presence here(here_[self]);
      for (int n = 0; n < items; ++n) {
        if (self == slow) {
          auto turn = co_await this->limited(self, turns_.acquire());
          if (!turn) co_return;
        }
        if (self == 0) {
          auto item = pack(n);
          auto sent = co_await this->limited(self, c_.send(std::move(item)));
          CHECK(sent.has_value() != static_cast<bool>(item));
          if (!sent) co_return;
          ++sent_;
        } else {
          auto item = co_await this->limited(self, c_.receive());
          if (!item) co_return;
          CHECK(**item == received_);
          ++received_;
        }
      }
      this->got(self);
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 2 == 1) world.settle();
    else turns_.release();
  }
  void close() {
    turns_.release(items);
    world.settle();
    while (!here_[0] && sent_ < items && c_.try_send(pack(sent_))) {
      ++sent_;
      world.settle();
    }
    while (!here_[1] && c_.try_receive()) {
      ++received_;
      world.settle();
    }
    CHECK(c_.size() == 0);
    CHECK(sent_ == received_);
  }

 private:
  static constexpr int items = 4;
  class presence {
   public:
    explicit presence(std::atomic<bool>& here) : here_(here) { here_ = true; }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() { here_ = false; }

   private:
    std::atomic<bool>& here_;
  };
  spsc_of<Kind, parcel> c_{2};
  hocket::basic_semaphore<typename Kind::strength> turns_{0};
  std::atomic<bool> here_[actors]{};
  std::atomic<int> sent_{0}, received_{0};

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("one to one at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<spsc_play<Kind, 0>>();
  act_at_every_step<spsc_play<Kind, 1>>();
}

}  // namespace hocket_test
