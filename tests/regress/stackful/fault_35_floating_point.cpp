// FAULT 35: floating-point control words and the rounding mode leak over switches. With own_floating_point they go with
// the fiber; without it they are the thread's, and stay.
#include <hocket/base/seam/valgrind.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/auto_reset_event.hpp>

#include <cfenv>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;

namespace {

// The thread's environment is the default one before and after a test.
struct tidy {
  tidy() { std::fesetenv(FE_DFL_ENV); }
  ~tidy() { std::fesetenv(FE_DFL_ENV); }
};

constexpr coroutine_options own{.own_floating_point = true};

// Valgrind knows the rounding mode alone.
bool has_flags() { return !detail::under_valgrind; }

}  // namespace

TEST_CASE("fault 35: FE_UPWARD of a coroutine does not leak to its resumer, and it finds it again") {
  tidy up;
  coroutine<void()> c(own, [](auto& self) {
    CHECK(std::fegetround() == FE_TONEAREST);
    std::fesetround(FE_UPWARD);
    std::feraiseexcept(FE_DIVBYZERO);
    for (int i = 0; i < 3; ++i) {
      self.yield();
      CHECK(std::fegetround() == FE_UPWARD);
      if (has_flags()) CHECK(std::fetestexcept(FE_DIVBYZERO | FE_OVERFLOW) == FE_DIVBYZERO);
    }
  });
  c.resume();
  CHECK(std::fegetround() == FE_TONEAREST);
  CHECK(std::fetestexcept(FE_DIVBYZERO) == 0);
  std::fesetround(FE_DOWNWARD);
  std::feraiseexcept(FE_OVERFLOW);
  while (!c.done()) {
    c.resume();
    CHECK(std::fegetround() == FE_DOWNWARD);
    if (has_flags()) CHECK(std::fetestexcept(FE_DIVBYZERO | FE_OVERFLOW) == FE_OVERFLOW);
  }
}

TEST_CASE("fault 35: the mask of exceptions goes with the coroutine, too") {
  tidy up;
  if (!has_flags() || ::feenableexcept(FE_INVALID) == -1) return;  // not every machine can trap
  ::fedisableexcept(FE_INVALID);
  coroutine<void()> c(own, [](auto& self) {
    ::feenableexcept(FE_INVALID);
    self.yield();
    CHECK(::fegetexcept() == FE_INVALID);
  });
  c.resume();
  CHECK(::fegetexcept() == 0);
  c.resume();
  CHECK(::fegetexcept() == 0);
}

TEST_CASE("fault 35: a raw one begins as its creator's, a scheduled one as its thread's") {
  tidy up;
  loop lp;
  int raw = -1, spawned = -1;
  std::fesetround(FE_TOWARDZERO);
  coroutine<void()> c(own, [&](auto&) { raw = std::fegetround(); });
  spawn(lp, {.own_floating_point = true}, [&] { spawned = std::fegetround(); });
  std::fesetround(FE_UPWARD);
  c.resume();
  lp.run();
  CHECK(raw == FE_TOWARDZERO);
  CHECK(spawned == FE_UPWARD);
  CHECK(std::fegetround() == FE_UPWARD);
}

TEST_CASE("fault 35: nested coroutines, each with its own") {
  tidy up;
  coroutine<void()> outer(own, [](auto& self) {
    std::fesetround(FE_UPWARD);
    coroutine<void()> inner(own, [](auto& inner_self) {
      std::fesetround(FE_DOWNWARD);
      inner_self.yield();
      CHECK(std::fegetround() == FE_DOWNWARD);
    });
    inner.resume();
    CHECK(std::fegetround() == FE_UPWARD);
    self.yield();
    inner.resume();
    CHECK(std::fegetround() == FE_UPWARD);
  });
  outer.resume();
  CHECK(std::fegetround() == FE_TONEAREST);
  outer.resume();
  CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("fault 35: fibers that yield and wait, with and without one, in every neighbourhood") {
  tidy up;
  if (detail::machine::keeps_rounding_mode) return;  // then the others have one, too
  loop lp;
  auto_reset_event bell;
  constexpr int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  int wrong = 0, turns = 0;
  auto keep = [&](int mode) {
    std::fesetround(mode);
    for (int i = 0; i < 20; ++i) {
      await(yield());
      wrong += std::fegetround() != mode;
      if (i % 3 == 0) bell.set();
      if (i % 5 == 0) static_cast<void>(await(bell.wait()));
      wrong += std::fegetround() != mode;
      ++turns;
    }
    for (int i = 0; i < 40; ++i) bell.set(), await(yield());
  };
  auto plain = [&] {
    for (int i = 0; i < 200; ++i) {
      await(yield());
      wrong += std::fegetround() != FE_TONEAREST;
      bell.set();
    }
  };
  for (int mode : modes) {
    spawn(lp, plain);
    spawn(lp, {.own_floating_point = true}, keep, mode);
    spawn(lp, plain);
    spawn(lp, plain);
    spawn(lp, {.own_floating_point = true}, keep, mode);
    spawn(lp, {.own_floating_point = true}, keep, mode);
  }
  lp.run();
  CHECK(turns == 9 * 20);
  CHECK(wrong == 0);
  CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("fault 35: it is there in destructors that unwinding runs, in handlers, and beside a canary") {
  tidy up;
  stack_pool pool({.stack_size = 32 * 1024, .protection = guard::canary});
  int seen = -1;
  struct witness {
    int* seen;
    ~witness() { *seen = std::fegetround(); }
  };
  {
    coroutine<void()> c({.pool = &pool, .own_floating_point = true}, [&](auto& self) {
      witness leaves{&seen};
      std::fesetround(FE_UPWARD);
      try {
        throw std::runtime_error("caught");
      } catch (std::runtime_error& error) {
        self.yield();
        CHECK(std::fegetround() == FE_UPWARD);
        CHECK(std::string(error.what()) == "caught");
      }
      self.yield();
    });
    c.resume();
    CHECK(std::fegetround() == FE_TONEAREST);
    c.resume();
    CHECK(std::fegetround() == FE_TONEAREST);
  }
  CHECK(seen == FE_UPWARD);
  CHECK(std::fegetround() == FE_TONEAREST);
}

TEST_CASE("fault 35: without the option the environment is the thread's and stays over switches" *
          doctest::skip(detail::machine::keeps_rounding_mode)) {
  tidy up;
  coroutine<void()> c([](auto& self) {
    std::fesetround(FE_UPWARD);
    self.yield();
    CHECK(std::fegetround() == FE_DOWNWARD);
  });
  c.resume();
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_DOWNWARD);
  c.resume();
}
