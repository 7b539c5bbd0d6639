// What was started on a loop or on a runtime: its handle, how it ended, and the body, with what the body refers to.
#pragma once
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>

#include "suites/world.hpp"

namespace hocket_test {

struct started {
  virtual ~started() = default;
  // In a catch (...). A kill goes on.
  void note_exception() {
    how = fate_of(std::current_exception());
    if (how == fate::killed) throw;
  }
  bool done() const { return handle.done(); }
  fate ended() const { return done() && how == fate::running ? fate::killed : how; }  // killed before it began

  hocket::join_handle<> handle;
  fate how = fate::running;
};

template <class Body>
struct started_body : started {
  virtual Body begin() = 0;
};

template <class Body, class F, class... Args>
std::unique_ptr<started_body<Body>> keep_body(F body_of, Args... args) {
  struct kept final : started_body<Body> {
    kept(F f, Args... given) : call{std::move(f), {std::move(given)...}} {}
    Body begin() override { return call(); }
    kept_call<F, Args...> call;
  };
  return std::make_unique<kept>(std::move(body_of), std::move(args)...);
}

// As a task, whatever executor runs it.
template <class World>
class of_tasks : public World {
 public:
  using World::World;
  using body = hocket::task<>;

  template <class F, class... Args>
  int start(F body_of, Args... args) {
    return this->add(&run, keep_body<body>(std::move(body_of), std::move(args)...));
  }

 private:
  static body run(started_body<body>* self) {
    try {
      auto work = self->begin();
      co_await std::move(work);
      self->how = fate::ended;
    } catch (...) {
      self->note_exception();
    }
  }
};

// As a fiber.
template <class World>
class of_fibers : public World {
 public:
  using World::World;
  using body = direct_body<of_fibers>;

  template <class A>
  static decltype(auto) await(A&& a) {
    return hocket::await(std::forward<A>(a));
  }
  template <class F, class... Args>
  int start(F body_of, Args... args) {
    return this->add(&run, keep_body<body>(std::move(body_of), std::move(args)...));
  }

 private:
  static void run(started_body<body>* self) {
    try {
      self->begin().get();
      self->how = fate::ended;
    } catch (...) {
      self->note_exception();
    }
  }
};

}  // namespace hocket_test
