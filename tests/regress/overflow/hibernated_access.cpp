// A pointer to a variable of a fiber that hibernates, used by others: the access faults, and the report says whose it
// is.
#include <hocket/base/seam/platform/poison.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "overflow.hpp"
#include "stack/memory.hpp"

#include <cerrno>
#include <cstdlib>
#include <doctest/doctest.h>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace overflow;

namespace {

constexpr const char* message = "an access to the stack of a coroutine that hibernates [coroutine sleeper]\n  remedy: ";

// Runs `use` on a variable of a fiber while that hibernates.
void with_hibernated(void (*use)(std::uintptr_t variable)) {
  event never;
  loop lp;
  std::uintptr_t variable = 0;
  spawn(lp, {.name = "sleeper", .hibernate_after = std::chrono::hours(1)}, [&] {
    volatile char own = 1;
    variable = reinterpret_cast<std::uintptr_t>(detail::stack_address(const_cast<const char*>(&own)));
    static_cast<void>(await(never.wait()));
    static_cast<void>(own);
  });
  while (lp.step()) {
  }
  if (hibernate_parked() != 1) std::abort();
  use(variable);
}

bool nothing_faults() { return detail::machine::fibers_are_threads || !detail::guards_are_markers(); }

}  // namespace

TEST_CASE("an access to a hibernated stack, by the thread itself and by another one") {
  if (nothing_faults()) return;
  const child_end own = die([] { with_hibernated(touch); });
  CHECK(own.how == segmentation_fault);
  CHECK_HOLDS(own.errors, message);
  const child_end other = die([] { with_hibernated([](std::uintptr_t at) { std::thread(touch, at).join(); }); });
  CHECK(other.how == segmentation_fault);
  CHECK_HOLDS(other.errors, message);
}

TEST_CASE("the kernel is given EFAULT") {
  if (nothing_faults()) return;
  const child_end end = die([] {
    with_hibernated([](std::uintptr_t at) {
      int ends[2];
      if (::pipe(ends) != 0) std::abort();
      if (::write(ends[1], reinterpret_cast<void*>(at), 1) != -1 || errno != EFAULT) std::abort();
    });
  });
  CHECK(end.how == returned);
}
