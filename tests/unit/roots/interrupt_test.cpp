// The scenes, at instructions that a timer chooses: for machines that cannot stop after each one, emulated ones above
// all. How often the thread is interrupted is fixed, so a verdict depends on no clock: a scene ends after that many
// looks, and one lost word is a failure.
//
// The timer fires once, and the handler sets it anew, for a time that differs from look to look. An emulator takes
// signals between its blocks of instructions only: the tests tell it to make blocks of one (QEMU_SINGLESTEP).
#include <hocket/fiber/enumeration.hpp>
#include <hocket/fiber/hibernate.hpp>

#include "unit/roots/scene.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr long looks_of_a_scene = 10'000;

timer_t timer;
std::uint32_t seed = 1;

// Between 5 and 69 microseconds.
void set_timer() noexcept {
  seed = seed * 1664525u + 1013904223u;
  itimerspec next{};
  next.it_value.tv_nsec = 5'000 + (seed >> 16);
  if (timer_settime(timer, 0, &next, nullptr) != 0) std::abort();
}

bool has_enough() noexcept { return found().looks >= looks_of_a_scene; }

void on_signal(void* context) {
  if (has_enough()) return;
  look(context);
  if (!has_enough()) set_timer();
}

// To this thread: others have no stack of a fiber.
void make_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = gettid();
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) std::abort();
}

void interrupt(void (*what)(), const spawn_options& options = {}, void (*between)() = [] {}) {
  handle(SIGPROF, &on_signal);
  make_timer();
  const findings found = play({what, options, between, [](int) { return !has_enough(); }, &set_timer, [] {}});
  timer_delete(timer);
  CAPTURE(reinterpret_cast<void*>(found.first_loss));
  CHECK(found.looks == looks_of_a_scene);
  CHECK(found.lost == 0);
  MESSAGE(found.looks, " interrupts, ", found.with_unknown_depth, " of them with a stack of unknown depth");
}

}  // namespace

TEST_SUITE_BEGIN("interrupted" * doctest::skip(!can_enumerate_stacks()));

TEST_CASE("yields are interrupted") { interrupt(&yields); }
TEST_CASE("waits are interrupted") { interrupt(&waits); }
TEST_CASE("calls on other stacks are interrupted") { interrupt(&calls); }
TEST_CASE("waits in calls on other stacks are interrupted") { interrupt(&waits_in_a_call); }
TEST_CASE("raw coroutines are interrupted") { interrupt(&resumes_raw_ones); }
TEST_CASE("births and deaths are interrupted") { interrupt(&bears); }
TEST_CASE("all of them on dense stacks are interrupted") {
  interrupt(&mixes, {.stack_size = 16 * 1024, .stack = stack_kind::dense});
}
TEST_CASE("all of them on copied stacks are interrupted") { interrupt(&mixes, {.stack = stack_kind::copied}); }
TEST_CASE("hibernation is interrupted") {
  interrupt(&waits, {.hibernate_after = std::chrono::hours(1)}, [] { hibernate_parked(); });
}

TEST_SUITE_END();
