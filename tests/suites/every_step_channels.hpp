// The plays of channels; see every_step.hpp. Three send and three receive: one item, one item in a select, or batches
// of two. Whatever happens, an item is with its sender, in the channel, or with one receiver.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>

#include "suites/channels.hpp"
#include "suites/every_step.hpp"

#include <array>
#include <optional>
#include <span>

namespace hocket_test {

// The items that passed, and their receivers.
class ledger {
 public:
  void sent(std::span<const parcel> items, std::size_t n, int first) {
    sent_ += static_cast<int>(n);
    for (std::size_t i = 0; i < items.size(); ++i) {
      CHECK(static_cast<bool>(items[i]) == (i >= n));
      if (items[i]) CHECK(*items[i] == first + static_cast<int>(i));
    }
  }
  void received(const parcel& item) {
    REQUIRE(item);
    CHECK(++seen_.at(static_cast<std::size_t>(*item)) == 1);
    ++received_;
  }
  bool balanced() const { return sent_ == received_; }
  int count() const { return received_; }

 private:
  std::array<std::atomic<int>, 16> seen_{};
  std::atomic<int> sent_{0}, received_{0};
};

enum class way { alone, selected, batch };

// Which channel, and how it is used. -1 places: no limit.
template <int Places, way Way>
struct traffic {
  static constexpr int places = Places;
  static constexpr way as = Way;
};

template <class Kind, class Traffic>
class channel_play : public stage<Kind> {
 public:
  static constexpr int actors = 6, acts = 6;

  explicit channel_play(cast who) : stage<Kind>(who), hits_(who.victim >= 0) {
    auto sender = [this](int self) -> typename Kind::body {
      auto told = co_await this->limited(self, go_[self].wait());
      if (!told) co_return;
      std::array<parcel, 2> items{pack(2 * self), pack(2 * self + 1)};
      std::optional<hocket::result<std::size_t>> n;
      if constexpr (Traffic::as == way::batch) {
        auto sent = co_await this->limited(self, c_->send_batch(items));
        n.emplace(std::move(sent));
      } else if constexpr (Traffic::as == way::selected) {
        auto sent = co_await this->limited(self, select(never_.wait(), c_->send(std::move(items[0]))));
        n.emplace(sent ? hocket::result<std::size_t>(1u) : hocket::failure(sent.error()));
      } else {
        auto sent = co_await this->limited(self, c_->send(std::move(items[0])));
        n.emplace(sent ? hocket::result<std::size_t>(1u) : hocket::failure(sent.error()));
      }
      book_.sent(items, *n ? **n : 0, 2 * self);
      if (*n) this->got(self);
    };
    auto receiver = [this](int self) -> typename Kind::body {
      auto told = co_await this->limited(self, go_[self].wait());
      if (!told) co_return;
      std::array<parcel, 2> room;
      std::optional<std::error_code> error;
      if constexpr (Traffic::as == way::batch) {
        auto n = co_await this->limited(self, c_->receive_batch(room));
        if (!n) error = n.error();
      } else if constexpr (Traffic::as == way::selected) {
        auto one = co_await this->limited(self, select(c_->receive(), never_.wait()));
        if (!one) error = one.error();
        else if (auto& item = one->template get<0>()) room[0] = *std::move(item);
        else error = item.error();
      } else {
        auto item = co_await this->limited(self, c_->receive());
        if (item) room[0] = *std::move(item);
        else error = item.error();
      }
      CHECK(error.has_value() == !room[0]);
      for (auto& item : room)
        if (item) book_.received(item);
      if (!error || *error == hocket::errc::closed) this->got(self);
    };
    for (int self = 0; self < actors; ++self) {
      if (self < 3) this->enter(world, self, sender);
      else this->enter(world, self, receiver);
    }
  }
  // The first two senders, then two receivers, and the last of both before the former have run.
  void act(int n) {
    if (n == 1) let_go(0, 1);
    else if (n == 3) let_go(3, 4);
    else if (n == 4) let_go(2, 5);
    else world.settle();
  }
  // For a receiver that was hit the stage takes what is left; for a sender there is the end.
  void close() {
    for (auto& one : go_) one.set();
    world.settle();
    if (!hits_ && Traffic::as != way::batch) CHECK(book_.count() == 3);
    while (auto left = c_->try_receive()) {
      book_.received(*left);
      world.settle();
    }
    c_->close();
    world.settle();
    CHECK(book_.balanced());
    CHECK(c_->size() == 0);
  }

 private:
  void let_go(int one, int other) {
    go_[one].set();
    go_[other].set();
  }

  const bool hits_;
  std::unique_ptr<channel_of<Kind, parcel>> c_ = channel_with<Kind, parcel>(Traffic::places);
  hocket::basic_event<typename Kind::strength> go_[actors], never_;
  ledger book_;

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("a channel at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<channel_play<Kind, traffic<1, way::alone>>>();
  act_at_every_step<channel_play<Kind, traffic<-1, way::alone>>>();
}
TEST_CASE_TEMPLATE("a rendezvous at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<channel_play<Kind, traffic<0, way::alone>>>();
}
TEST_CASE_TEMPLATE("batches of a channel at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<channel_play<Kind, traffic<0, way::batch>>>();
  act_at_every_step<channel_play<Kind, traffic<1, way::batch>>>();
}
TEST_CASE_TEMPLATE("selects at both ends of a channel at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<channel_play<Kind, traffic<0, way::selected>>>();
  act_at_every_step<channel_play<Kind, traffic<1, way::selected>>>();
}

}  // namespace hocket_test
