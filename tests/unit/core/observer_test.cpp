#include <hocket/core/observer.hpp>

#include <hocket/core/stop.hpp>
#include <hocket/core/wait/detail/observed.hpp>

#include "support/death.hpp"
#include "unit/core/permit_source.hpp"
#include "unit/core/recorder.hpp"
#include "unit/core/script.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_set>

using namespace hocket;
using namespace hocket_test;

namespace {

script take_one(permit_source& source, std::optional<detail::wait_end>& got) { got = co_await source.acquire(); }

// A wait for a permit that a test brings about, on an executor of its own.
struct one_wait {
  coroutine_id id() const { return coroutine_id(waiting.handle().address()); }
  void suspend() {
    waiting.start(on);
    on.run();
  }

  stepped_executor on;
  permit_source source;
  std::optional<detail::wait_end> got;
  script waiting = take_one(source, got);
};

void tell_anything() {
  if (detail::observed()) detail::notify_woken(coroutine_id());
}

// A callback that a test keeps from returning.
struct held_callback final : observer {
  void on_wake(coroutine_id) noexcept override {
    entered = true;
    entered.notify_all();
    leave.wait(false);
    left = true;
  }
  std::atomic<bool> entered{false}, leave{false}, left{false};
};

}  // namespace

TEST_CASE("any number of observers are told, and those that were removed no more") {
  CHECK_FALSE(detail::observed());
  {
    std::vector<std::unique_ptr<recorder>> watching;
    for (int i = 0; i < 20; ++i) watching.push_back(std::make_unique<recorder>());
    tell_anything();
    for (const auto& one : watching) CHECK(one->told() == list_of{"woken"});
    watching.erase(watching.begin() + 3, watching.begin() + 17);
    watching.push_back(std::make_unique<recorder>());
    tell_anything();
    for (const auto& one : watching) CHECK(one->told().back() == "woken");
    CHECK(watching.front()->told().size() == 2);
    CHECK(watching.back()->told().size() == 1);
    CHECK(detail::observed());
  }
  CHECK_FALSE(detail::observed());
}

TEST_CASE("a wait tells who suspends, for what and where, that it is woken, and that it goes on") {
  recorder watching;
  one_wait one;
  one.suspend();
  CHECK(watching.told(one.id()) == list_of{"suspended"});
  CHECK(watching.events().back().detail == static_cast<const primitive::wait_source*>(&one.source));
  one.source.release();
  CHECK(watching.told(one.id()) == list_of{"suspended", "woken"});
  one.on.run();
  CHECK(one.got == detail::wait_end::granted);
  CHECK(watching.told(one.id()) == list_of{"suspended", "woken", "resumed"});
  CHECK(watching.told().size() == 3);
}

TEST_CASE("a coroutine is resumed before its code goes on") {
  struct looks final : observer {
    explicit looks(const one_wait& at) : one(at) { install_observer(*this); }
    ~looks() { remove_observer(*this); }
    void on_resume(coroutine_id who) noexcept override { before = who == one.id() && !one.got; }
    const one_wait& one;
    bool before = false;
  };
  one_wait one;
  looks watching(one);
  one.suspend();
  one.source.release();
  CHECK_FALSE(watching.before);
  one.on.run();
  CHECK(watching.before);
  CHECK(one.got);
}

TEST_CASE("an observer that is installed between a wake and the resume hears of neither") {
  one_wait one;
  one.suspend();
  one.source.release();
  recorder watching;
  one.on.run();
  CHECK(one.got);
  CHECK(watching.told().empty());
}

TEST_CASE("a coroutine goes on if the observers of its wake are gone") {
  one_wait one;
  {
    recorder watching;
    one.suspend();
    one.source.release();
  }
  one.on.run();
  CHECK(one.got == detail::wait_end::granted);
}

TEST_CASE("a permit that is free is no event") {
  recorder watching;
  one_wait one;
  one.source.release();
  one.suspend();
  CHECK(one.got);
  CHECK(watching.told().empty());
}

TEST_CASE("a wait that is decided before its commit is woken and resumed as often as it is suspended") {
  recorder watching;
  stop_source stop;
  auto ctx = context::child_of(context::root(), {.stop = &stop});
  stop.request();
  one_wait one;
  one.waiting.start(one.on, ctx.get());
  one.on.run();
  CHECK(one.got == detail::wait_end::cancelled);
  CHECK(watching.told() == list_of{"suspended", "woken", "resumed"});
}

TEST_CASE("a removal returns when the callbacks on other threads have") {
  held_callback held;
  install_observer(held);
  std::thread telling([] { detail::notify_woken(coroutine_id()); });
  held.entered.wait(false);
  std::atomic<bool> removed{false};
  std::thread removing([&] {
    remove_observer(held);
    CHECK(held.left);
    removed = true;
  });
  while (detail::observed()) std::this_thread::yield();  // until the removal has begun
  CHECK_FALSE(removed);
  tell_anything();  // no event waits for it, or reaches it any more
  held.leave = true;
  held.leave.notify_all();
  telling.join();
  removing.join();
}

TEST_CASE("a callback may remove its own observer, and install another") {
  struct changes final : observer {
    explicit changes(recorder*& in) : next(in) { install_observer(*this); }
    void on_wake(coroutine_id) noexcept override {
      remove_observer(*this);
      next = new recorder;
    }
    recorder*& next;
  };
  recorder* next = nullptr;
  changes one(next);
  tell_anything();
  REQUIRE(next != nullptr);
  const std::size_t before = next->told().size();  // the event under way may reach it or not
  CHECK(before <= 1);
  tell_anything();
  CHECK(next->told().size() == before + 1);
  delete next;
  CHECK_FALSE(detail::observed());
}

TEST_CASE("an event inside of a callback is told, and a removal there waits for no callback of its own thread") {
  struct nests final : observer {
    nests() { install_observer(*this); }
    void on_create(coroutine_id, const coroutine_info&) noexcept override { detail::notify_woken(coroutine_id(this)); }
    void on_wake(coroutine_id who) noexcept override {
      inner = who;
      remove_observer(*this);
    }
    coroutine_id inner;
  };
  nests one;
  detail::notify_created(coroutine_id(), {.kind = observed_kind::task, .name = "", .ctx = context::root()});
  CHECK(one.inner == coroutine_id(&one));
  CHECK_FALSE(detail::observed());
}

TEST_CASE("observers come and go while others are told") {
  std::atomic<bool> over{false};
  std::thread telling([&] {
    while (!over) tell_anything();
  });
  std::thread coming([&] {
    for (int i = 0; i < 500; ++i) recorder{};
  });
  for (int i = 0; i < 500; ++i) {
    auto one = std::make_unique<recorder>();
    tell_anything();
    CHECK(!one->told().empty());
  }
  coming.join();
  over = true;
  telling.join();
  CHECK_FALSE(detail::observed());
}

TEST_CASE("an id is printed, compared and hashed; the default one is a plain thread's") {
  const int a[2]{};
  const coroutine_id first(&a[0]), second(&a[1]);
  CHECK(first != second);
  CHECK(first < second);
  CHECK(first.address() == &a[0]);
  CHECK(first);
  CHECK_FALSE(coroutine_id());
  CHECK(std::unordered_set<coroutine_id>{first, second, first}.size() == 2);
}

TEST_CASE("an observer that is installed twice, or removed without being installed, is fatal") {
  held_callback one;
  expect_fatal([&] { remove_observer(one); }, "an observer was removed that is not installed");
  install_observer(one);
  expect_fatal([&] { install_observer(one); }, "an observer was installed twice");
  remove_observer(one);
  expect_fatal([&] { remove_observer(one); }, "an observer was removed that is not installed");
}
