// The explorer itself: each kind of bug is found and told apart, reports repeat, bounds bound, and nothing is left over.
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
  CHECK(seen.size() == 90);   // 6! / (2! 2! 2!)
}

TEST_CASE("every permitted value is read") {
  std::set<int> seen;
  verdict::never([&](execution& run) {
    atomic<int> x{0};
    run.thread("writer", [&] { for (int i = 1; i <= 4; ++i) x.store(i, order::relaxed); });
    run.thread("reader", [&] { auto first = x.load(order::relaxed); seen.insert(first * 10 + x.load(order::relaxed)); });
    run.join();
  });
  CHECK(seen.size() == 15);   // all pairs of 0 ... 4 that do not go backwards
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
    run.thread("alpha", [&] {
      x.fetch_add(2, order::acq_rel);
      int local = 0;
      p.store(&local, order::release);
      int expected = 0;
      x.compare_exchange_strong(expected, 1, order::acquire, order::relaxed);
      model::fence(order::seq_cst);
      model::fail("seen");
    });
    run.join();
  });
  CHECK(r.message == "seen");
  for (const char* part : {"alpha", "x.fetch_add(acq_rel): -7 becomes -5", "p.store(&p0, release)", "fence(seq_cst)",
                           "x.compare_exchange_strong(relaxed): fails, is -5, not 0", "explorer_test.cpp:"}) {
    INFO(r.interleaving);
    CHECK(r.interleaving.find(part) != std::string::npos);
  }
}

TEST_CASE("two mutexes locked in opposite orders deadlock, in one order they do not") {
  auto body = [](bool opposite) {
    return [=](execution& run) {
      mutex a{"a"}, b{"b"};
      run.thread("left", [&] {
        std::lock_guard first(a);
        std::lock_guard second(b);
      });
      run.thread("right", [&] {
        std::lock_guard first(opposite ? b : a);
        std::lock_guard second(opposite ? a : b);
      });
      run.join();
    };
  };
  auto r = verdict::found(bug::deadlock, body(true));
  CHECK(r.message == "nobody can go on: left waits for `b`, right waits for `a`");
  verdict::never(body(false));
}

TEST_CASE("a mutex orders what it guards, and only that") {
  auto body = [](bool guarded) {
    return [=](execution& run) {
      mutex m{"m"};
      var<int> count{0, "count"};
      for (const char* name : {"a", "b"}) {
        run.thread(name, [&] {
          std::unique_lock lock(m, std::defer_lock);
          if (guarded) lock.lock();
          count = count + 1;
        });
      }
      run.join();
      require(count == 2);
    };
  };
  verdict::never(body(true));
  verdict::found(bug::data_race, body(false));
}

TEST_CASE("a mutex that is unlocked by a stranger or locked twice is reported") {
  verdict::found(bug::misuse, [](execution& run) {
    mutex m;
    run.thread("stranger", [&] { m.unlock(); });
    run.join();
  });
  verdict::found(bug::deadlock, [](execution& run) {
    mutex m;
    run.thread("owner", [&] {
      m.lock();
      m.lock();
    });
    run.join();
  });
}

TEST_CASE("a spin loop that pauses ends when its condition comes true") {
  verdict::never([](execution& run) {
    atomic<bool> go{false, "go"};
    var<int> data{0, "data"};
    run.thread("spins", [&] {
      while (!go.load(order::acquire)) model::pause();
      require(data == 1);
    });
    run.thread("sets", [&] {
      data = 1;
      go.store(true, order::release);
    });
    run.join();
  });
}

TEST_CASE("two threads that spin on each other are a livelock") {
  auto r = verdict::found(bug::livelock, [](execution& run) {
    atomic<int> turn{0, "turn"};
    run.thread("a", [&] { while (turn.load() != 1) model::pause(); });
    run.thread("b", [&] { while (turn.load() != 2) model::pause(); });
    run.join();
  });
  CHECK(r.message == "nobody can go on: a spins, b spins");
}

TEST_CASE("threads that politely give way for ever meet the bound of steps") {
  verdict::found(bug::livelock, {.preemptions = 1, .steps = 300}, [](execution& run) {
    atomic<int> turn{0, "turn"};
    run.thread("a", [&] { while (turn.exchange(1) != 2) model::pause(); });
    run.thread("b", [&] { while (turn.exchange(0) != 2) model::pause(); });
    run.join();
  });
}

TEST_CASE("a use after destruction is found") {
  auto body = [](bool wait) {
    return [=](execution& run) {
      alignas(atomic<int>) static unsigned char memory[sizeof(atomic<int>)];
      auto* object = ::new (static_cast<void*>(memory)) atomic<int>(0, "object");
      atomic<bool> done{false, "done"};
      run.thread("user", [&] {
        object->fetch_add(1, order::relaxed);
        done.store(true, order::release);
      });
      run.thread("destroyer", [&] {
        while (wait && !done.load(order::acquire)) model::pause();
        std::destroy_at(object);
      });
      run.join();
    };
  };
  verdict::never(body(true));
  auto r = model::explore(body(false));
  CHECK((r.kind == bug::use_after_destroy || r.kind == bug::data_race));
}

TEST_CASE("a destruction that is not ordered after the last use is a race, even if it came later") {
  // The counter of references is right; its order is not.
  auto body = [](order last) {
    return [=](execution& run) {
      struct shared {
        atomic<int> references{2, "references"};
        var<int> payload{0, "payload"};
      };
      auto* object = new shared;
      for (const char* name : {"a", "b"}) {
        run.thread(name, [=] {
          [[maybe_unused]] int seen = object->payload;
          if (object->references.fetch_sub(1, last) == 1) delete object;
        });
      }
      run.join();
    };
  };
  verdict::never(body(order::acq_rel));
  auto r = verdict::found(bug::data_race, body(order::release));
  CHECK(r.message.find("is destroyed") != std::string::npos);
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
    run.thread("c", [&, odd] { if (!odd) x.store(4); });
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
