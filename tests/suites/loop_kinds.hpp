// Tasks and fibers on a loop whose clock is moved by hand: two kinds for the suites (world.hpp).
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/strength.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "suites/world.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace hocket_test {

// What both have: a loop and the handles of what was started.
class on_a_loop {
 public:
  using strength = hocket::strength::shared;

  explicit on_a_loop(const hocket::loop_options& options = {}) : lp_(with_clock(options)) {}
  on_a_loop(const on_a_loop&) = delete;
  on_a_loop& operator=(const on_a_loop&) = delete;
  ~on_a_loop() {
    for (auto& one : all_) one->handle.kill();
    settle();
    for (auto& one : all_) CHECK(one->handle.done());
    CHECK(lp_.live() == 0);
  }
  void settle() {
    while (lp_.step()) after_step_();
  }
  // Ends the loop under what is left on it.
  void end() { std::destroy_at(&lp_); }
  void cancel(int id) { at(id).handle.cancel(); }
  void kill(int id) { at(id).handle.kill(); }
  void pass(hocket::duration time) {
    clock_.advance(time);
    settle();
  }
  hocket::time_point now() const { return clock_.now(); }
  fate ended(int id) {
    one_coroutine& one = at(id);
    return one.handle.done() && one.how == fate::running ? fate::killed : one.how;  // killed before it began
  }

 protected:
  struct one_coroutine {
    virtual ~one_coroutine() = default;
    // In a catch (...). A kill goes on.
    void note_exception() {
      how = fate_of(std::current_exception());
      if (how == fate::killed) throw;
    }
    hocket::join_handle<> handle;
    fate how = fate::running;
  };
  template <class Body>
  struct one_body : one_coroutine {
    virtual Body begin() = 0;
  };

  template <class Body, class Run, class F, class... Args>
  int spawn_kept(Run run, F body_of, Args... args) {
    struct kept final : one_body<Body> {
      kept(F f, Args... given) : call{std::move(f), {std::move(given)...}} {}
      Body begin() override { return call(); }
      kept_call<F, Args...> call;
    };
    auto one = std::make_unique<kept>(std::move(body_of), std::move(args)...);
    one_body<Body>* self = one.get();
    one->handle = hocket::spawn(lp_, options_, run, self);
    all_.push_back(std::move(one));
    return static_cast<int>(all_.size()) - 1;
  }
  hocket::loop_options with_clock(hocket::loop_options options) const {
    options.time = &clock_;
    return options;
  }
  one_coroutine& at(int id) { return *all_[static_cast<std::size_t>(id)]; }

  hocket::manual_clock clock_{hocket::time_point(std::chrono::hours(1))};
  hocket::loop lp_;
  hocket::spawn_options options_{};
  void (*after_step_)() = [] {};
  std::vector<std::unique_ptr<one_coroutine>> all_;
};

class loop_tasks : public on_a_loop {
 public:
  using on_a_loop::on_a_loop;
  using body = hocket::task<>;

  template <class F, class... Args>
  int start(F body_of, Args... args) {
    return spawn_kept<body>(&run, std::move(body_of), std::move(args)...);
  }

 private:
  static body run(one_body<body>* self) {
    try {
      auto work = self->begin();
      co_await std::move(work);
      self->how = fate::ended;
    } catch (...) {
      self->note_exception();
    }
  }
};

class loop_fibers : public on_a_loop {
 public:
  using on_a_loop::on_a_loop;
  using body = direct_body<loop_fibers>;

  template <class A>
  static decltype(auto) await(A&& a) {
    return hocket::await(std::forward<A>(a));
  }
  template <class F, class... Args>
  int start(F body_of, Args... args) {
    return spawn_kept<body>(&run, std::move(body_of), std::move(args)...);
  }

 private:
  static void run(one_body<body>* self) {
    try {
      self->begin().get();
      self->how = fate::ended;
    } catch (...) {
      self->note_exception();
    }
  }
};

// Fibers whose stack is packed whenever they wait.
class packed_fibers : public loop_fibers {
 public:
  explicit packed_fibers(const hocket::loop_options& options = {}) : loop_fibers(options) {
    options_.hibernate_after = std::chrono::hours(1000);
    after_step_ = [] { hocket::hibernate_parked(); };
  }
};

// Fibers that all share one stack.
class copied_fibers : public loop_fibers {
 public:
  explicit copied_fibers(const hocket::loop_options& options = {}) : loop_fibers(options) {
    options_.stack = hocket::stack_kind::copied;
  }
};

}  // namespace hocket_test
