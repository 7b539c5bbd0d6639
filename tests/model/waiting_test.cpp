// Sleeping and waking: the classic lost wake-up, and its cures. (A futex wait in a loop may return for no reason any
// number of times, so none of these is exhausted without the bound on spurious results.)
#include "verdict.hpp"

#include <optional>

namespace {

using hocket::model::atomic;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::futex_wait;
using hocket::model::futex_wait_timed;
using hocket::model::futex_wake_all;
using hocket::model::futex_wake_one;
using hocket::model::require;
using hocket::model::var;
using order = std::memory_order;

}  // namespace

TEST_CASE("checking and then sleeping loses the wake-up that comes between") {
  // The waiter's futex call compares with the *present* value of the word, so the earlier signal is lost.
  auto r = verdict::found(bug::lost_wakeup, [](execution& run) {
    atomic<bool> ready{false, "ready"};
    atomic<std::uint32_t> bell{0, "bell"};
    run.thread("waiter", [&] {
      if (!ready.load(order::acquire)) futex_wait(bell, 0);
    });
    run.thread("signaller", [&] {
      ready.store(true, order::release);
      futex_wake_one(bell);
    });
    run.join();
  });
  CHECK(r.message == "no thread can run: waiter sleeps on `bell`");
}

TEST_CASE("a signal in the word that is slept on cannot be lost") {
  verdict::none([](execution& run) {
    atomic<std::uint32_t> ready{0, "ready"};
    var<int> data{0, "data"};
    run.thread("waiter", [&] {
      while (ready.load(order::acquire) == 0) futex_wait(ready, 0);
      require(data == 1);
    });
    run.thread("signaller", [&] {
      data = 1;
      ready.store(1, order::release);
      futex_wake_one(ready);
    });
    run.join();
  });
}

TEST_CASE("waking one where two may sleep loses one of them") {
  auto body = [](bool all) {
    return [=](execution& run) {
      atomic<std::uint32_t> open{0, "open"};
      for (const char* name : {"first", "second"}) {
        run.thread(name, [&] {
          while (open.load(order::acquire) == 0) futex_wait(open, 0);
        });
      }
      run.thread("opener", [&] {
        open.store(1, order::release);
        if (all) futex_wake_all(open);
        else futex_wake_one(open);
      });
      run.join();
    };
  };
  verdict::none(body(true));
  verdict::found(bug::lost_wakeup, body(false));
}

TEST_CASE("a futex wait may return for no reason, and orders nothing when it does") {
  verdict::found(bug::data_race, [](execution& run) {
    atomic<std::uint32_t> word{0, "word"};
    var<int> data{0, "data"};
    run.thread("waiter", [&] {
      futex_wait(word, 0);
      require(data == 1, "woken, so the data is there");
    });
    run.thread("signaller", [&] {
      data = 1;
      word.store(1, order::release);
      futex_wake_one(word);
    });
    run.join();
  });
}

TEST_CASE("a word may be gone when it is woken") {
  // The waiter sees the flag without sleeping and ends its life; the wake that follows touches an address only.
  verdict::none([](execution& run) {
    auto* word = new atomic<std::uint32_t>{0, "word"};
    run.thread("waiter", [=] {
      while (word->load(order::acquire) == 0) futex_wait(*word, 0);
      delete word;
    });
    run.thread("signaller", [=] {
      word->store(1, order::release);
      futex_wake_one(*word);
    });
    run.join();
  });
}

TEST_CASE("a timed wait ends by the clock if nobody can wake it, and by a wake at any time before") {
  verdict::none([](execution& run) {
    atomic<std::uint32_t> word{0, "word"};
    run.thread("waiter", [&] {
      while (futex_wait_timed(word, 0)) {
        if (word.load(order::acquire) != 0) return;
      }
    });
    run.thread("bystander", [&] { word.load(order::relaxed); });
    run.join();
  });
  // Each of the two ends is met, the one after the wake, the other before or after the store.
  auto always = [](bool by_wake, std::uint32_t before) {
    return [=](execution& run) {
      atomic<std::uint32_t> word{0, "word"};
      run.thread("waiter", [&] { require(futex_wait_timed(word, 0) == by_wake || word.load() != before); });
      run.thread("waker", [&] {
        word.store(1);
        futex_wake_one(word);
      });
      run.join();
    };
  };
  verdict::found(bug::assertion, always(false, 1));
  verdict::found(bug::assertion, always(true, 0));
  verdict::found(bug::assertion, always(true, 1));
}

TEST_CASE("who leaves a timed wait by the clock must still look whether the wake is under way") {
  // The waiter destroys the word after its time-out; the signaller touches it later.
  verdict::found(bug::use_after_destroy, [](execution& run) {
    std::optional<atomic<std::uint32_t>> bell(std::in_place, 0, "bell");
    run.thread("waiter", [&] {
      while (bell->load(order::acquire) == 0 && futex_wait_timed(*bell, 0)) {
      }
      bell.reset();
    });
    run.thread("signaller", [at = &*bell] {
      at->store(1, order::release);
      futex_wake_one(*at);
    });
    run.join();
  });
}

TEST_CASE("a timed wait in a loop that nobody ends is a livelock, not a lost wake-up") {
  verdict::found(bug::livelock, {.steps = 200}, [](execution& run) {
    atomic<std::uint32_t> word{0, "word"};
    run.thread("waiter", [&] {
      while (word.load(order::acquire) == 0) (void)futex_wait_timed(word, 0);
    });
    run.join();
  });
}

TEST_CASE("atomic wait and notify pair up") {
  auto body = [](bool notify) {
    return [=](execution& run) {
      atomic<int> state{0, "state"};
      run.thread("waiter", [&] {
        state.wait(0, order::acquire);
        require(state.load() == 1);
      });
      run.thread("notifier", [&] {
        state.store(1, order::release);
        if (notify) state.notify_one();
      });
      run.join();
    };
  };
  verdict::none(body(true));
  verdict::found(bug::lost_wakeup, body(false));
}

TEST_CASE("a sleeper that announces itself and a signaller that looks need a fence on both sides") {
  // Parking: both store to their own word and then look at the other's, which is store buffering with a sleep.
  auto body = [](order sleeper, order signaller) {
    return [=](execution& run) {
      atomic<int> work{0, "work"};
      atomic<std::uint32_t> parked{0, "parked"};
      run.thread("sleeper", [&] {
        parked.store(1, order::relaxed);
        hocket::model::fence(sleeper);
        if (work.load(order::relaxed) != 0) return;
        while (parked.load(order::relaxed) == 1) futex_wait(parked, 1);
      });
      run.thread("signaller", [&] {
        work.store(1, order::relaxed);
        hocket::model::fence(signaller);
        if (parked.load(order::relaxed) == 0) return;
        parked.store(0, order::relaxed);
        futex_wake_one(parked);
      });
      run.join();
    };
  };
  verdict::none(body(order::seq_cst, order::seq_cst));
  verdict::found(bug::lost_wakeup, body(order::acq_rel, order::seq_cst));
  verdict::found(bug::lost_wakeup, body(order::seq_cst, order::acq_rel));
}
