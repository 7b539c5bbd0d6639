// FAULTS 12, 13 and 16 by enumeration: three coroutines wait; then a letter of each word of
//
//   G  a grant          C  a cancel of the first      T  the deadline of the second     K  a kill of the third
//   S  a step           D  the destruction of the coroutine that would run next         N  one more begins to wait
//
// happens, in every order of the letters. In each order: each wait ends once; each granted object was returned by a
// wait, or is there for the next; and no coroutine is left waiting for an object that is there.
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/wait/seam/operation.hpp>

#include "unit/core/script.hpp"

#include <algorithm>
#include <deque>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

namespace hocket_test {

using namespace hocket;

inline constexpr time_point due = time_point{} + std::chrono::seconds(1);

// A queue out of which a coroutine can be taken again, to be destroyed.
class open_queue final : public executor {
 public:
  // The budget of operations begins anew (core/wait/seam/budget.hpp): no play depends on earlier ones.
  explicit open_queue(hand_timers& timers) : timers_(timers) { hocket::detail::refill_budget(detail::this_thread()); }

  void post_from_outside(detail::runnable& work) noexcept override {
    twice |= std::find(queue_.begin(), queue_.end(), &work) != queue_.end();
    queue_.push_back(&work);
  }
  detail::timer_service* timers() noexcept override { return &timers_; }
  detail::runnable* take() {
    if (queue_.empty()) return nullptr;
    detail::runnable* first = queue_.front();
    queue_.pop_front();
    return first;
  }
  bool step() {
    detail::runnable* work = take();
    if (work) resume(*work);
    return work != nullptr;
  }
  void run() {
    while (step()) {
    }
  }
  // Runs the last one, before all others.
  void step_last() {
    detail::runnable* work = queue_.back();
    queue_.pop_back();
    resume(*work);
  }

  bool twice = false;

 private:
  void resume(detail::runnable& work) {
    auto handle = work.handle;
    detail::running_scope running({this}, detail::header_of(handle).ctx);
    handle.resume();
  }
  std::deque<detail::runnable*> queue_;
  hand_timers& timers_;
};

// One coroutine that waits once.
template <class Source>
struct waiting {
  stop_source stop;
  context_ptr ctx;
  int returns = 0;
  bool killed = false;
  script run;

  waiting(Source& source, open_queue& on, time_point deadline)
      : ctx(context::child_of(context::root(), {.stop = &stop, .deadline = deadline})), run(wait(source, *this)) {
    run.start(on, ctx.get());
  }
  static script wait(Source& source, waiting& self) {
    try {
      if constexpr (requires { source.reads_next(); }) {
        if (source.reads_next()) {
          auto seen = co_await source.wait_to_read();
          if (seen) source.keep(std::move(seen));
          ++self.returns;
          co_return;
        }
      }
      auto got = co_await source.wait();
      if (got) source.keep(std::move(got));
      ++self.returns;
    } catch (...) {
      self.killed = true;
    }
  }
};

template <class Source>
class scene {
 public:
  scene() {
    begin(time_point::max());
    begin(due);
    begin(time_point::max());
  }
  void act(char letter) {
    switch (letter) {
      case 'G': source.grant(); break;
      case 'C': all_[0]->stop.request(stop_level::cancel); break;
      case 'T': timers_.fire_due(due); break;
      case 'K': all_[2]->stop.request(stop_level::kill); break;
      case 'S': on_.step(); break;
      case 'D': destroy_next(); break;
      case 'N': begin(time_point::max()); break;
      default: FAIL("no such letter");
    }
  }
  // Runs all; then cancels the remaining waits, which shows that they were waiting.
  void end() {
    on_.run();
    source.check(static_cast<int>(std::count_if(all_.begin(), all_.end(), [](auto& one) { return waits(*one); })));
    for (auto& one : all_) one->stop.request(stop_level::cancel);
    on_.run();
    for (auto& one : all_) CHECK(ended_once(*one));
    CHECK(timers_.empty());
    CHECK_FALSE(on_.twice);
    source.check(0);
  }

  Source source;

 private:
  using one_wait = waiting<Source>;

  void begin(time_point deadline) {
    all_.push_back(std::make_unique<one_wait>(source, on_, deadline));
    on_.step_last();
  }
  void destroy_next() {
    detail::runnable* next = on_.take();
    if (!next) return;
    const std::coroutine_handle<> who = next->handle;  // it lies in the frame
    for (auto& one : all_) {
      if (one->run.handle() == who) one->run.destroy();
    }
  }
  static bool waits(one_wait& one) { return one.run.handle() && !one.run.done(); }
  static bool ended_once(one_wait& one) {
    return !one.run.handle() ? one.returns == 0 : one.run.done() && one.returns == (one.killed ? 0 : 1);
  }

  hand_timers timers_{time_point{}};
  open_queue on_{timers_};
  std::vector<std::unique_ptr<one_wait>> all_;
};

template <class Source>
void in_every_order(std::string letters) {
  std::sort(letters.begin(), letters.end());
  do {
    INFO(letters);
    scene<Source> stage;
    for (char letter : letters) stage.act(letter);
    stage.end();
  } while (std::next_permutation(letters.begin(), letters.end()));
}

}  // namespace hocket_test
