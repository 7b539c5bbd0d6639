// The scenes, at every instruction: with the trap flag the processor stops after each one.
#include <hocket/fiber/enumeration.hpp>
#include <hocket/fiber/hibernate.hpp>

#include "unit/roots/scene.hpp"

#include <chrono>
#include <csignal>
#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

[[gnu::noinline]] void begin_steps() { asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory"); }
[[gnu::noinline]] void end_steps() { asm volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory"); }

void step_through(
    void (*what)(), const spawn_options& options = {}, void (*between)() = [] {},
    bool (*goes_on)(int) = [](int done) { return done < 7; }) {
  handle(SIGTRAP, [](void* context) { look(context); });
  const findings found = play({what, options, between, goes_on, &begin_steps, &end_steps});
  CAPTURE(reinterpret_cast<void*>(found.first_loss));
  CHECK(found.lost == 0);
  CHECK(found.with_unknown_depth > 0);
  CHECK(found.with_unknown_depth < found.looks / 6);  // up to 14 % where little but switches is left: -O3
  MESSAGE(found.looks, " instructions, ", found.with_unknown_depth, " of them with a stack of unknown depth");
}

}  // namespace

TEST_SUITE_BEGIN("instruction by instruction" * doctest::skip(!can_enumerate_stacks()));

TEST_CASE("yields") { step_through(&yields); }
TEST_CASE("waits") { step_through(&waits); }
TEST_CASE("calls on other stacks") { step_through(&calls); }
TEST_CASE("waits in a call on another stack") { step_through(&waits_in_a_call); }
TEST_CASE("raw coroutines, resumed from several depths") {
  step_through(&resumes_raw_ones, {}, [] {}, [](int done) { return done < 2; });
}
TEST_CASE("births and deaths") { step_through(&bears); }
TEST_CASE("all of them") { step_through(&mixes); }
TEST_CASE("all of them on dense stacks") {
  step_through(&mixes, {.stack_size = 16 * 1024, .stack = stack_kind::dense});
}
TEST_CASE("all of them on copied stacks") { step_through(&mixes, {.stack = stack_kind::copied}); }
TEST_CASE("all of them in fibers that may migrate") { step_through(&mixes, {.migratable = true}); }
TEST_CASE("hibernation") {
  step_through(&waits, {.hibernate_after = std::chrono::hours(1)}, [] { hibernate_parked(); });
}

TEST_SUITE_END();
