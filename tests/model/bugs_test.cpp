// Each kind of bug beside data races and lost wake-ups is found and told apart, beside a variant that does not have it.
#include "verdict.hpp"

#include <memory>
#include <mutex>
#include <string>

namespace {

using hocket::model::atomic;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::mutex;
using hocket::model::require;
using hocket::model::var;
using order = std::memory_order;
namespace model = hocket::model;

}  // namespace

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
  CHECK(r.message == "no thread can run: left waits for `b`, right waits for `a`");
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
    run.thread("a", [&] {
      while (turn.load() != 1) model::pause();
    });
    run.thread("b", [&] {
      while (turn.load() != 2) model::pause();
    });
    run.join();
  });
  CHECK(r.message == "no thread can run: a spins, b spins");
}

TEST_CASE("threads that politely give way for ever meet the bound of steps") {
  verdict::found(bug::livelock, {.preemptions = 1, .steps = 300}, [](execution& run) {
    atomic<int> turn{0, "turn"};
    run.thread("a", [&] {
      while (turn.exchange(1) != 2) model::pause();
    });
    run.thread("b", [&] {
      while (turn.exchange(0) != 2) model::pause();
    });
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
