// Tasks on an executor that is stepped by hand: a kind for the suites (world.hpp).
#pragma once
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/coro/task.hpp>

#include "suites/world.hpp"
#include "support/hand_timers.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace hocket_test {

class stepped_tasks {
 public:
  using body = hocket::task<>;
  using strength = hocket::strength::shared;

  ~stepped_tasks() {
    for (auto& one : all_) one->stop.request(hocket::stop_level::kill);
    settle();
    for (auto& one : all_) CHECK(one->how != fate::running);
    CHECK(timers_.empty());
  }

  template <class F, class... Args>
  int start(F body_of, Args... args) {
    struct kept final : one_task {
      kept(F f, Args... given) : call{std::move(f), {std::move(given)...}} {}
      body begin() override { return call(); }
      kept_call<F, Args...> call;
    };
    all_.push_back(std::make_unique<kept>(std::move(body_of), std::move(args)...));
    all_.back()->run.start(on_, all_.back()->ctx.get());
    return static_cast<int>(all_.size()) - 1;
  }
  void settle() { on_.run(); }
  void cancel(int id) { at(id).stop.request(hocket::stop_level::cancel); }
  void kill(int id) { at(id).stop.request(hocket::stop_level::kill); }
  void pass(hocket::duration time) {
    timers_.pass(time);
    settle();
  }
  hocket::time_point now() const { return timers_.now(); }
  fate ended(int id) { return at(id).how; }

 private:
  struct one_task {
    virtual ~one_task() = default;
    virtual body begin() = 0;
    hocket::stop_source stop;
    hocket::context_ptr ctx = hocket::context::child_of(hocket::context::root(), {.stop = &stop});
    fate how = fate::running;
    script run = drive(*this);
  };
  static script drive(one_task& self) {
    try {
      auto work = self.begin();
      co_await std::move(work);
      self.how = fate::ended;
    } catch (...) {
      self.how = fate_of(std::current_exception());
    }
  }
  one_task& at(int id) { return *all_[static_cast<std::size_t>(id)]; }

  hand_timers timers_;
  stepped_executor on_{&timers_};
  std::vector<std::unique_ptr<one_task>> all_;
};

}  // namespace hocket_test
