// FAULTS 12, 13 and 16 by enumeration (every_order.hpp), for what there are permits of, and for what opens.
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "unit/sync/every_order.hpp"

#include <algorithm>
#include <deque>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// --- the objects of the waits. check(): the conserved quantity, with this number of waiters, after all others have run

struct permits {
  semaphore source{0};
  std::vector<semaphore::permits> kept;
  std::size_t granted = 0;

  auto wait() { return source.acquire(); }
  void keep(result<semaphore::permits> got) { kept.push_back(*std::move(got)); }
  void grant() {
    source.release();
    ++granted;
  }
  void check(int waiting) {
    CHECK(source.available() + kept.size() == granted);
    if (waiting > 0) CHECK(source.available() == 0);
  }
};

// A waiter wants two permits, so only two grants together serve it.
struct pairs {
  semaphore source{1};
  std::vector<semaphore::permits> kept;
  std::size_t granted = 1;

  auto wait() { return source.acquire(2); }
  void keep(result<semaphore::permits> got) { kept.push_back(*std::move(got)); }
  void grant() {
    source.release();
    ++granted;
  }
  void check(int waiting) {
    CHECK(source.available() + 2 * kept.size() == granted);
    if (waiting > 0) CHECK(source.available() < 2);
  }
};

// At a grant the first holder passes it on.
struct one_lock {
  mutex source;
  std::vector<mutex::guard> kept;

  one_lock() { kept.push_back(source.try_lock()); }
  auto wait() { return source.lock(); }
  void keep(result<mutex::guard> got) {
    kept.push_back(*std::move(got));
    CHECK(kept.size() == 1);
  }
  void grant() { kept.clear(); }
  void check(int waiting) {
    const bool free = static_cast<bool>(source.try_lock());
    CHECK(free == kept.empty());
    if (waiting > 0) CHECK_FALSE(free);
  }
};

// The second and the third waiter read, the others write. At a grant the holders pass it on: a writer, or all
// readers.
struct read_or_written {
  shared_mutex source;
  int come = 0;
  std::vector<shared_mutex::shared_guard> readers;
  std::vector<shared_mutex::guard> writers;

  read_or_written() { readers.push_back(source.try_lock_shared()); }
  bool reads_next() { return ++come == 2 || come == 3; }
  auto wait() { return source.lock(); }
  auto wait_to_read() { return source.lock_shared(); }
  void keep(result<shared_mutex::guard> got) {
    CHECK((writers.empty() && readers.empty()));
    writers.push_back(*std::move(got));
  }
  void keep(result<shared_mutex::shared_guard> got) {
    CHECK(writers.empty());
    readers.push_back(*std::move(got));
  }
  void grant() {
    readers.clear();
    writers.clear();
  }
  void check(int waiting) {
    const bool free = static_cast<bool>(source.try_lock());
    CHECK(free == (writers.empty() && readers.empty()));
    if (waiting > 0) CHECK_FALSE(free);
  }
};

// The first turn fails at a grant, the second one is done.
struct one_turn {
  once source;
  std::vector<once::turn> kept;
  int ended = 0;

  one_turn() { kept.push_back(*sync_wait(source.enter())); }
  auto wait() { return source.enter(); }
  void keep(result<once::turn> got) {
    if (*got) kept.push_back(*std::move(got));
    else CHECK(source.is_done());
    CHECK(kept.size() <= 1);
  }
  void grant() {
    if (kept.empty()) return;
    if (++ended == 2) kept.back().done();
    kept.clear();
  }
  void check(int waiting) {
    CHECK(source.is_done() == (ended == 2));
    if (kept.empty()) CHECK(waiting == 0);
  }
};

struct bell {
  auto_reset_event source;
  int through = 0, rung = 0;

  auto wait() { return source.wait(); }
  void keep(result<void>) { ++through; }
  void grant() {
    source.set();
    ++rung;
  }
  // Two sets without a waiter between them count as one.
  void check(int waiting) {
    const bool set = source.try_wait();
    if (set) source.set();
    CHECK(through + (set ? 1 : 0) <= rung);
    CHECK(through + (set ? 1 : 0) >= (rung > 0 ? 1 : 0));
    if (waiting > 0) {
      CHECK_FALSE(set);
      CHECK(through == rung);
    }
  }
};

struct gate {
  event source;
  int through = 0;
  bool open = false;

  auto wait() { return source.wait(); }
  void keep(result<void>) { ++through; }
  void grant() {
    source.set();
    open = true;
  }
  void check(int waiting) {
    CHECK(source.is_set() == open);
    if (open) CHECK(waiting == 0);
  }
};

// Either of two semaphores; grants go to them in turn.
struct either {
  semaphore sources[2]{semaphore(0), semaphore(0)};
  std::size_t kept = 0, granted = 0;

  auto wait() { return select(sources[0].acquire(), sources[1].acquire()); }
  template <class Choice>
  void keep(result<Choice> got) {
    kept += got->index() == 0 ? got->template get<0>()->forget() : got->template get<1>()->forget();
  }
  void grant() { sources[granted++ % 2].release(); }
  void check(int waiting) {
    const std::size_t left = sources[0].available() + sources[1].available();
    CHECK(left + kept == granted);
    if (waiting > 0) CHECK(left == 0);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("faults 12, 13: in every order of grants and ends, nothing is lost and nobody forgotten", Source,
                   permits, pairs, one_lock, read_or_written, one_turn, bell, gate, either) {
  in_every_order<Source>("GGCTKSDN");
}

// One receiver at a time, so one wait after the other: the value outlives every way in which they end.
TEST_CASE("faults 12, 16: in every order of a send and ends, the value is received once, or still there") {
  std::string letters = "CDGSTUV";  // U, V: the next receive begins
  std::sort(letters.begin(), letters.end());
  struct source {
    oneshot<int> ends = make_oneshot<int>();
    int got = 0;
    auto wait() { return ends.receiver.receive(); }
    void keep(result<int> value) { got += *value; }
  };
  do {
    INFO(letters);
    hand_timers timers{time_point{}};
    open_queue on(timers);
    source of;
    std::vector<std::unique_ptr<waiting<source>>> all;
    auto begin = [&] {
      on.run();
      if (!all.empty() && all.back()->run.handle() && !all.back()->run.done()) return;  // it still waits
      all.push_back(std::make_unique<waiting<source>>(of, on, all.empty() ? due : time_point::max()));
      on.step_last();
    };
    begin();
    for (char letter : letters) {
      switch (letter) {
        case 'C': all.back()->stop.request(stop_level::cancel); break;
        case 'D':
          if (on.take()) all.back()->run.destroy();
          break;
        case 'G': CHECK(of.ends.sender.send(7)); break;
        case 'S': on.step(); break;
        case 'T': timers.fire_due(due); break;
        default: begin();
      }
    }
    begin();
    begin();
    for (auto& one : all) CHECK((!one->run.handle() || one->run.done()));
    CHECK(of.got == 7);
    CHECK_FALSE(on.twice);
  } while (std::next_permutation(letters.begin(), letters.end()));
}
