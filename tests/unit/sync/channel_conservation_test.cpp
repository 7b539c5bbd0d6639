// FAULTS 12, 13 and 19 by enumeration (every_order.hpp), for channels: an item is with its sender, in the channel, or
// with one receiver.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/spsc_channel.hpp>

#include "support/death.hpp"
#include "unit/sync/every_order.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a select that would send one object twice is fatal") {
  auto twice = [] {
    channel<std::unique_ptr<int>> one(0), other(0);
    auto item = std::make_unique<int>(7);
    [[maybe_unused]] auto done = sync_wait(select(one.send(std::move(item)), other.send(std::move(item))));
  };
  expect_fatal(twice, "a select was to send the same object by two of its operations");
  auto mixed = [] {
    channel<std::unique_ptr<int>> one(0);
    spsc_channel<std::unique_ptr<int>> other(1);
    auto item = std::make_unique<int>(7);
    [[maybe_unused]] auto done = sync_wait(select(other.send(std::move(item)), one.send(std::move(item))));
  };
  expect_fatal(mixed, "a select was to send the same object by two of its operations");
  auto batch = [] {
    channel<std::string> one(0), other(0);
    std::string items[2];
    [[maybe_unused]] auto done = sync_wait(select(one.send_batch(items), other.send(std::move(items[0]))));
  };
  expect_fatal(batch, "a select was to send the same object by two of its operations");
}

TEST_CASE("a select sends one of two objects, or one small one by either way") {
  channel<std::string> one(1), other(1);
  std::string a = "a", b = "b";
  auto done = sync_wait(select_in_order(one.send(std::move(a)), other.send(std::move(b))));
  REQUIRE(done.has_value());
  CHECK(done->index() == 0);
  CHECK(b == "b");
  spsc_channel<std::string> third(1), fourth(1);  // they move nothing before they send
  auto either = sync_wait(select(third.send(std::move(b)), fourth.send(std::move(b))));
  CHECK(either.has_value());
  CHECK(third.size() + fourth.size() == 1);
  channel<int> small(0), buffered(1);
  int n = 7;
  auto sent = sync_wait(select(small.send(std::move(n)), buffered.send(std::move(n))));
  REQUIRE(sent.has_value());
  CHECK(sent->index() == 1);
  auto got = buffered.try_receive();
  REQUIRE(got.has_value());
  CHECK(*got == 7);
}

namespace {

// Items through a channel with one place: a grant is one more item.
struct items {
  channel<std::unique_ptr<int>> source{1};
  std::vector<int> kept;
  int sent = 0;

  auto wait() { return source.receive(); }
  void keep(result<std::unique_ptr<int>> got) { kept.push_back(**got); }
  void grant() {
    if (source.try_send(std::make_unique<int>(sent))) ++sent;
  }
  void check(int waiting) {
    CHECK(source.size() + kept.size() == static_cast<std::size_t>(sent));
    std::vector<int> once = kept;
    std::sort(once.begin(), once.end());
    CHECK(std::unique(once.begin(), once.end()) == once.end());
    if (waiting > 0) CHECK(source.size() == 0);
  }
};

// The other side of one: a grant takes an item from a sender that waits.
struct offers {
  channel<int> source{0};
  int made = 0, through = 0, got = 0;

  auto wait() { return source.send(++made); }
  void keep(result<void>) { ++through; }
  void grant() {
    if (source.try_receive()) ++got;
  }
  // Who was destroyed after the grant has sent its item, too.
  void check(int waiting) {
    CHECK(source.size() == 0);
    CHECK(through <= got);
    CHECK(got <= made);
    if (waiting > 0) CHECK(got + waiting <= made);
  }
};

// An item of one of two channels; grants go to them in turn.
struct either_item {
  channel<int> sources[2]{channel<int>(0), channel<int>(channel<int>::unbounded)};
  std::size_t kept = 0, granted = 0, tried = 0;

  auto wait() { return select(sources[0].receive(), sources[1].receive()); }
  template <class Choice>
  void keep(result<Choice>) {
    ++kept;
  }
  void grant() { granted += sources[tried++ % 2].try_send(7).has_value() ? 1 : 0; }
  void check(int waiting) {
    const std::size_t left = sources[0].size() + sources[1].size();
    CHECK(left + kept == granted);
    if (waiting > 0) CHECK(left == 0);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("faults 12, 13, 19: in every order of items and ends, none is lost and nobody forgotten", Source,
                   items, offers, either_item) {
  in_every_order<Source>("GGCTKSDN");
}
