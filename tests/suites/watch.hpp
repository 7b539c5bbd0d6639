// The watch, for every kind.
#pragma once
#include <hocket/sync/select.hpp>
#include <hocket/sync/watch.hpp>

#include "suites/every_step.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

namespace hocket_test {

template <class Kind, class T>
using watch_of = hocket::basic_watch<typename Kind::strength, T>;

TEST_CASE_TEMPLATE("a receiver of a watch gets the first value, then each that is the latest when it looks", Kind,
                   HOCKET_SUITE_KINDS) {
  watch_of<Kind, int> w(1);
  std::vector<int> seen[2];
  std::error_code ends[2];
  Kind world;
  auto receive = [&](int self) -> typename Kind::body {
    auto mine = w.subscribe();
    for (;;) {
      auto value = co_await mine.receive();
      if (!value) {
        ends[self] = value.error();
        break;
      }
      seen[self].push_back(*value);
    }
  };
  world.start(receive, 0);
  world.settle();
  CHECK(w.set(2));
  world.settle();
  world.start(receive, 1);
  world.settle();
  CHECK(w.set(3));
  world.settle();
  CHECK(w.close());
  CHECK_FALSE(w.close(std::make_error_code(std::errc::io_error)));
  CHECK_FALSE(w.set(4));
  world.settle();
  CHECK(seen[0] == std::vector{1, 2, 3});
  CHECK(seen[1] == std::vector{2, 3});
  for (auto& end : ends) {
    CHECK(end == hocket::errc::closed);
    CHECK(end == std::errc::broken_pipe);
  }
  CHECK(w.is_closed());
  CHECK(w.get() == 3);
}

TEST_CASE_TEMPLATE("values between two looks are skipped, and the last one is seen after the end, too", Kind,
                   HOCKET_SUITE_KINDS) {
  const auto why = std::make_error_code(std::errc::host_unreachable);
  watch_of<Kind, int> w(0);
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto mine = w.subscribe();
    auto first = co_await mine.receive();
    CHECK(*first == 0);
    CHECK(mine.try_receive().error() == std::errc::resource_unavailable_try_again);
    for (int n = 1; n < 5; ++n) w.set(n);
    auto latest = co_await mine.receive();
    CHECK(*latest == 4);
    auto copy = mine;
    CHECK(copy.try_receive().error() == std::errc::resource_unavailable_try_again);
    w.set(5);
    w.set(6);
    w.close(why);
    auto last = co_await mine.receive();
    CHECK(*last == 6);
    auto end = co_await mine.receive();
    CHECK(end.error() == why);
    CHECK(*copy.try_receive() == 6);
    CHECK(copy.try_receive().error() == why);
    auto late = w.subscribe();
    CHECK(*late.try_receive() == 6);
  };
  int only = world.start(body);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
}

TEST_CASE_TEMPLATE("faults 12, 13: a receiver of a watch whose wait is ended has seen nothing, and others go on", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  for (int how : {0, 1, 2}) {
    watch_of<Kind, int> w(1);
    auto shared = w.subscribe();
    CHECK(*shared.try_receive() == 1);
    std::error_code error;
    int other = 0;
    Kind world;
    auto receive = [&]() -> typename Kind::body {
      auto value = co_await within(10ms, shared.receive());
      error = value ? std::error_code{} : value.error();
    };
    auto wait = [&]() -> typename Kind::body {
      auto mine = w.subscribe();
      for (int n = 0; n < 2; ++n) {
        auto value = co_await mine.receive();
        other = *value;
      }
    };
    int head = world.start(receive);
    world.start(wait);
    world.settle();
    if (how == 0) world.cancel(head);
    if (how == 1) world.kill(head);
    if (how == 2) world.pass(10ms);
    CHECK(w.set(7));
    world.settle();
    CHECK(world.ended(head) == (how == 1 ? fate::killed : fate::ended));
    if (how == 0) CHECK(error == std::errc::operation_canceled);
    if (how == 2) CHECK(error == std::errc::timed_out);
    CHECK(other == 7);
    CHECK(*shared.try_receive() == 7);
  }
}

TEST_CASE_TEMPLATE("a select sees the value of one watch, and leaves the other unseen", Kind, HOCKET_SUITE_KINDS) {
  watch_of<Kind, int> a(1), b(2);
  std::vector<int> seen;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    auto of_a = a.subscribe(), of_b = b.subscribe();
    for (;;) {
      auto got = co_await select_in_order(of_a.receive(), of_b.receive());
      REQUIRE(got);
      if (got->index() == 0) {
        auto& value = got->template get<0>();
        if (!value) break;
        seen.push_back(*value);
      } else {
        seen.push_back(*got->template get<1>());
      }
    }
  };
  int only = world.start(choose);
  world.settle();
  b.set(20);
  world.settle();
  a.set(10);
  world.settle();
  a.close();
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(seen == std::vector{1, 2, 20, 10});
}

TEST_CASE_TEMPLATE("a value that is replaced ends at once, and what its copy throws leaves the receive", Kind,
                   HOCKET_SUITE_KINDS) {
  struct fragile_value {
    explicit fragile_value(std::shared_ptr<int> of) noexcept : counted(std::move(of)) {}
    fragile_value(const fragile_value& other) : counted(other.counted) {
      if (*counted < 0) throw 7;
    }
    fragile_value(fragile_value&&) noexcept = default;
    fragile_value& operator=(fragile_value&&) noexcept = default;
    std::shared_ptr<int> counted;
  };
  auto one = std::make_shared<int>(-1), two = std::make_shared<int>(2);
  watch_of<Kind, fragile_value> w{fragile_value(one)};
  int caught = 0;
  Kind world;
  auto body = [&]() -> typename Kind::body {
    auto mine = w.subscribe();
    try {
      auto value = co_await mine.receive();
      static_cast<void>(value);
    } catch (int n) {
      caught = n;
    }
    *one = 1;
    auto value = co_await mine.receive();
    CHECK(value->counted == one);
  };
  world.start(body);
  world.settle();
  CHECK(caught == 7);
  CHECK(one.use_count() == 2);
  CHECK(w.set(fragile_value(two)));
  CHECK(one.use_count() == 1);
}

// Two receive until the end, beside values that are set; a receiver that stays sees the last value.
template <class Kind>
class watch_play : public stage<Kind> {
 public:
  static constexpr int actors = 2, acts = 6;

  explicit watch_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      for (;;) {
        auto value = co_await this->limited(self, mine_[self].receive());
        if (value) {
          CHECK(*value > last_[self]);
          last_[self] = *value;
        } else {
          if (value.error() == hocket::errc::closed) {
            CHECK(last_[self] == value_);
            this->got(self);
          }
          break;
        }
      }
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 3 == 2) world.settle();
    else w_.set(++value_);
  }
  void close() {
    CHECK(w_.close());
    world.settle();
    // A receiver that has ended finds the value that it has not seen.
    for (int self = 0; self < actors; ++self) {
      if (auto value = mine_[self].try_receive()) {
        CHECK(last_[self] < value_);
        last_[self] = *value;
      }
      CHECK(last_[self] == value_);
    }
  }

 private:
  watch_of<Kind, int> w_{0};
  typename watch_of<Kind, int>::receiver mine_[actors]{w_.subscribe(), w_.subscribe()};
  std::atomic<int> value_{0};
  std::atomic<int> last_[actors]{-1, -1};

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("a watch at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<watch_play<Kind>>(); }

}  // namespace hocket_test
