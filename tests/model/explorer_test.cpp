// The explorer itself: it misses nothing, its reports repeat, its bounds bound, and nothing is left over.
#include "verdict.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

namespace {

using hocket::model::atomic;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::mutex;
using hocket::model::options;
using hocket::model::require;
using hocket::model::var;
using order = std::memory_order;
namespace model = hocket::model;

// Needs `switches` preemptions of the observer: it must see 1, 2, ... in consecutive reads of a counter.
auto needs_preemptions(int switches) {
  return [=](execution& run) {
    atomic<int> count{0, "count"};
    bool all = true;
    run.thread("observer", [&] {
      for (int i = 0; i <= switches; ++i) all = count.exchange(0) == (i == 0 ? 0 : 1) && all;
    });
    run.thread("setter", [&] {
      for (int i = 0; i < switches; ++i) count.store(1);
    });
    run.join();
    require(!all, "the setter ran once between every two looks");
  };
}

struct counted {
  explicit counted(int& alive) : alive_(alive) { ++alive_; }
  ~counted() { --alive_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  int& alive_;
};

}  // namespace

TEST_CASE("one thread has one execution") {
  auto r = verdict::never([](execution& run) {
    atomic<int> x{0};
    run.thread("only", [&] {
      x.store(1);
      require(x.load() == 1);
    });
    run.join();
  });
  CHECK(r.executions == 1);
  CHECK(r.steps == 2);
}

TEST_CASE("two independent operations have two orders") {
  auto r = verdict::never([](execution& run) {
    atomic<int> x{0}, y{0};
    run.thread("a", [&] { x.store(1); });
    run.thread("b", [&] { y.store(1); });
    run.join();
  });
  CHECK(r.executions == 2);
}

TEST_CASE("every interleaving is met") {
  std::set<std::string> seen;
  verdict::never([&](execution& run) {
    atomic<int> x{0};
    std::string order_of_steps;
    for (const char* name : {"a", "b", "c"}) {
      run.thread(name, [&, name] {
        for (int i = 0; i < 2; ++i) {
          x.fetch_add(1);
          order_of_steps += name;
        }
      });
    }
    run.join();
    seen.insert(order_of_steps);
  });
  CHECK(seen.size() == 90);  // 6! / (2! 2! 2!)
}

TEST_CASE("every permitted value is read") {
  std::set<int> seen;
  verdict::never([&](execution& run) {
    atomic<int> x{0};
    run.thread("writer", [&] {
      for (int i = 1; i <= 4; ++i) x.store(i, order::relaxed);
    });
    run.thread("reader", [&] {
      auto first = x.load(order::relaxed);
      seen.insert(first * 10 + x.load(order::relaxed));
    });
    run.join();
  });
  CHECK(seen.size() == 15);  // all pairs of 0 ... 4 that do not go backwards
}

TEST_CASE("a bug that needs three preemptions is found with three and not with two") {
  auto r = verdict::none({.preemptions = 2, .stale_reads = 0}, needs_preemptions(3));
  CHECK_FALSE(r.exhaustive);
  verdict::found(bug::assertion, {.preemptions = 5, .stale_reads = 0}, needs_preemptions(3));
}

TEST_CASE("the first report is the same in every exploration") {
  auto body = needs_preemptions(2);
  auto one = model::explore(body), other = model::explore(body);
  REQUIRE(one.found());
  CHECK(one.text() == other.text());
  CHECK(one.executions == other.executions);
}

TEST_CASE("an interleaving tells thread, object, order and value of each step") {
  auto r = verdict::found(bug::assertion, [](execution& run) {
    atomic<int> x{-7, "x"};
    atomic<int*> p{nullptr, "p"};
    atomic<std::uintptr_t> marked{17, "marked"};
    run.thread("alpha", [&] {
      x.fetch_add(2, order::acq_rel);
      alignas(8) int local = 0;
      p.store(&local, order::release);
      marked.exchange(reinterpret_cast<std::uintptr_t>(&local) + 5, order::relaxed);
      int expected = 0;
      x.compare_exchange_strong(expected, 1, order::acquire, order::relaxed);
      model::fence(order::seq_cst);
      model::fail("seen");
    });
    run.join();
  });
  CHECK(r.message == "seen");
  for (const char* part : {"alpha", "x.fetch_add(acq_rel): -7 becomes -5", "p.store(&p0, release)", "fence(seq_cst)",
                           "marked.exchange(relaxed): 17 becomes &p0+5",
                           "x.compare_exchange_strong(relaxed): fails, is -5, not 0", "explorer_test.cpp:"}) {
    INFO(r.interleaving);
    CHECK(r.interleaving.find(part) != std::string::npos);
  }
}

TEST_CASE("an exception that leaves a thread is a bug, one that leaves the body is passed on") {
  auto r = verdict::found(bug::exception, [](execution& run) {
    run.thread("thrower", [] { throw std::runtime_error("out"); });
    run.join();
  });
  CHECK(r.message == "an exception left thread thrower: out");
  CHECK_THROWS_AS((void)model::explore([](execution&) { throw std::logic_error("body"); }), std::logic_error);
}

TEST_CASE("a thread that catches what it throws, and is switched away meanwhile, keeps its exception") {
  verdict::never([](execution& run) {
    atomic<int> x{0, "x"};
    for (int number : {1, 2}) {
      run.thread("catcher", [&x, number] {
        try {
          throw number;
        } catch (int) {
          x.fetch_add(1);
          try {
            throw;
          } catch (int again) {
            require(again == number, "another thread's exception");
          }
        }
      });
    }
    run.join();
  });
}

TEST_CASE("threads are unwound when a bug is found elsewhere") {
  int alive = 0;
  auto r = model::explore([&](execution& run) {
    mutex m{"m"};
    atomic<int> x{0, "x"};
    run.thread("waits", [&] {
      counted local(alive);
      std::lock_guard lock(m);
      x.store(1);
      model::futex_wait(atomic<std::uint32_t>{0, "never"}, 0);
    });
    run.thread("fails", [&] {
      counted local(alive);
      require(x.load() == 0, "seen");
    });
    run.join();
  });
  CHECK(r.found());
  CHECK(alive == 0);
}

TEST_CASE("a bug inside a noexcept function is reported like any other") {
  auto handler = std::get_terminate();
  auto r = model::explore([](execution& run) {
    atomic<int> x{0, "x"};
    auto harmless = [&]() noexcept { x.store(1); };
    auto fatal = [&]() noexcept { require(x.load() == 0, "seen in noexcept"); };
    run.thread("writer", harmless);
    run.thread("reader", fatal);
    run.join();
  });
  CHECK(r.kind == bug::assertion);
  CHECK(r.message == "seen in noexcept");
  CHECK((std::get_terminate() == handler));
}

TEST_CASE("a body that depends on something outside is told so") {
  int runs = 0;
  auto r = model::explore([&](execution& run) {
    atomic<int> x{0, "x"};
    bool odd = ++runs % 2 != 0;
    run.thread("a", [&] { x.store(1); });
    run.thread("b", [&, odd] {
      x.store(2);
      if (odd) x.store(3);
    });
    run.thread("c", [&, odd] {
      if (!odd) x.store(4);
    });
    run.join();
  });
  CHECK(r.kind == bug::nondeterminism);
}

TEST_CASE("a replay string that is none, or of another test, is told so") {
  auto body = needs_preemptions(1);
  for (const char* wrong : {"x", "1.", "1..2", "-1", "1*", "4000000000*4000000000", "0*50.1", "77"}) {
    CAPTURE(wrong);
    CHECK(model::replay(wrong, body).kind == bug::nondeterminism);
  }
  CHECK_FALSE(model::replay("0", body).found());
  CHECK_FALSE(model::replay("", body).interleaving.empty());
}

TEST_CASE("random executions find what they are lucky to find, and repeat it by seed") {
  options lucky{.random = 10'000, .seed = 7};
  auto one = verdict::found(bug::assertion, lucky, needs_preemptions(2));
  auto other = model::explore(lucky, needs_preemptions(2));
  CHECK(one.replay == other.replay);
  auto unlucky = model::explore({.random = 100}, needs_preemptions(20));
  CHECK_FALSE(unlucky.found());
  CHECK_FALSE(unlucky.complete);
  CHECK(unlucky.executions == 100);
}

TEST_CASE("a bound on executions ends the search, incomplete") {
  auto r = model::explore({.executions = 3}, needs_preemptions(4));
  CHECK(r.executions == 3);
  CHECK_FALSE(r.complete);
}

TEST_CASE("static objects enter every execution with the value that they have outside") {
  static atomic<int> count{5, "count"};
  verdict::never([](execution& run) {
    require(count.load() == 5);
    for (const char* name : {"a", "b"}) run.thread(name, [] { count.fetch_add(1); });
    run.join();
    require(count.load() == 7);
  });
  CHECK(count.load() == 5);
  count.store(6);
  CHECK(count.fetch_add(1) == 6);
  CHECK(count == 7);
}

TEST_CASE("threads know their index, and may be run in several phases") {
  verdict::never([](execution& run) {
    var<int> x{0, "x"};
    require(model::thread_index() == 0);
    run.thread("first", [&] {
      require(model::thread_index() == 1);
      x = 1;
    });
    run.join();
    run.thread("second", [&] {
      require(model::thread_index() == 2);
      require(x == 1);
      x = 2;
    });
    run.join();
    require(x == 2);
  });
}
