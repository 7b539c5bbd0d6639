// Where a stalled worker is: the stack that a signal's handler has copied.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/detail/signal_count.hpp>

#include "support/runtime_look.hpp"
#include "unit/runtime/stall_report.hpp"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <pthread.h>
#include <string>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

const void *leaf_function = nullptr, *middle_function = nullptr, *root_function = nullptr;

[[gnu::noinline]] void outer() {
  hold_until_reported();
  asm volatile("");
}

// No register has a frame of a task while it holds: the compiler keeps a number in each.
[[gnu::noinline]] void hold_with_full_registers() {
  static volatile std::uintptr_t zero = 0;
  std::uintptr_t a = zero, b = zero, c = zero, d = zero, e = zero, f = zero, g = zero, h = zero, i = zero, j = zero,
                 k = zero, l = zero, m = zero;
  while (!is_reported())
    asm volatile(""
                 : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h), "+r"(i), "+r"(j), "+r"(k),
                   "+r"(l), "+r"(m)::"memory");
  zero = a + b + c + d + e + f + g + h + i + j + k + l + m;
}

task<result<void>> leaf(void (*call)()) {
  co_await own_function(leaf_function);
  call();
  co_return {};
}
task<result<void>> middle(void (*call)()) {
  co_await own_function(middle_function);
  co_await or_return(leaf(call));
  co_return {};
}
task<> root(void (*call)()) {
  co_await own_function(root_function);
  static_cast<void>(co_await middle(call));
}

const void* as_pointer(void (*function)()) { return reinterpret_cast<const void*>(function); }

// The program's own functions of a report, innermost first.
std::vector<const void*> own_functions(const stall_report& report) {
  std::vector<const void*> found = report.functions();
  const std::vector<const void*> ours = {as_pointer(&hold_until_reported), as_pointer(&outer), leaf_function,
                                         middle_function, root_function};
  std::erase_if(found,
                [&](const void* function) { return std::find(ours.begin(), ours.end(), function) == ours.end(); });
  return found;
}

int ends[2];  // of a pipe
void release_reader(const stall& details) noexcept {
  take_report(details);
  static_cast<void>(!::write(ends[1], "x", 1));
}
[[gnu::noinline]] void read_in_libc() {
  char byte;
  static_cast<void>(!::read(ends[0], &byte, 1));
  asm volatile("");
}

std::string module_of(const void* address) {
  Dl_info known{};
  return ::dladdr(const_cast<void*>(address), &known) ? known.dli_fname : "";
}

std::atomic<int> former_calls{0};

struct former_handler {
  former_handler() {
    struct sigaction ours{};
    ours.sa_handler = [](int) { ++former_calls; };
    ::sigaction(SIGUSR2, &ours, nullptr);
  }
};

}  // namespace

TEST_CASE("the report of a stall has the interrupted code, its callers and the tasks that await it" *
          doctest::skip(!has_stacks())) {
  stall_report report;
  current_report = &report;
  {
    hocket::runtime rt(reporting());
    sync_wait(spawn(rt, root, &outer));
  }
  REQUIRE(report.frame_count != 0);
  const std::vector<const void*> functions = report.functions();
  CHECK(functions[0] == as_pointer(&hold_until_reported));
  if (!knows_callers) return;
  REQUIRE(functions.size() > 2);
  CHECK(functions[1] == as_pointer(&outer));
  CHECK(functions[2] == leaf_function);
  const std::vector<const void*> awaiters = {middle_function, root_function};
  CHECK(
      is_chain(own_functions(report), {as_pointer(&hold_until_reported), as_pointer(&outer), leaf_function}, awaiters));
  CHECK(report.waiting() == awaiters);
}

TEST_CASE("the tasks that await a stalled task are found by its stack" *
          doctest::skip(!has_stacks() || !knows_callers)) {
  stall_report report;
  current_report = &report;
  {
    hocket::runtime rt(reporting());
    sync_wait(spawn(rt, root, &hold_with_full_registers));
  }
  CHECK(report.waiting() == std::vector<const void*>{middle_function, root_function});
}

TEST_CASE("code of the C library without frame pointers is the first frame, and no frame behind it is wrong" *
          doctest::skip(!has_stacks())) {
  REQUIRE(::pipe(ends) == 0);
  stall_report report;
  current_report = &report;
  {
    hocket::runtime rt({.workers = 1, .stall_limit = 5ms, .on_stall = &release_reader, .stall_signal = SIGURG});
    sync_wait(spawn(rt, root, &read_in_libc));
  }
  REQUIRE(report.frame_count != 0);
  // Of a sanitizer's program, &::read is a function of the program.
  CHECK(module_of(report.frames[0]) == module_of(::dlsym(RTLD_NEXT, "read")));
  if (knows_callers) {
    const std::vector<const void*> awaiters = {middle_function, root_function};
    CHECK(is_chain(own_functions(report), {leaf_function}, awaiters));
    CHECK(report.waiting() == awaiters);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("the signal of a stall calls the handler that was there, and does not count as a signal of the program" *
          doctest::skip(!has_stacks())) {
  static const former_handler installed;
  former_calls = 0;
  stall_report report;
  current_report = &report;
  static std::atomic<int> signals{0};
  detail::listen_to_signals([](int) noexcept { ++signals; }, nullptr);
  hocket::runtime rt(reporting(SIGUSR2));
  sync_wait(spawn(rt, root, &outer));
  CHECK(former_calls == 1);
  CHECK(signals == 0);
  ::raise(SIGUSR2);
  CHECK(former_calls == 2);
  CHECK(signals == 1);
  detail::listen_to_signals(nullptr, nullptr);
}

TEST_CASE("a worker that blocks the signal of a stall is reported without a stack, and the late signal does nothing") {
  stall_report report;
  current_report = &report;
  hocket::runtime rt(reporting());
  auto blocks = []() -> task<> {
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGURG);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    hold_until_reported();
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    co_return;
  };
  sync_wait(spawn(rt, blocks));
  CHECK(report.reports == 1);
  CHECK(report.frame_count == 0);
  CHECK(report.awaiter_count == 0);
}

TEST_CASE("a worker that has left the stall when the signal arrives gives no stack") {
  hocket::runtime rt({.workers = 1, .stall_limit = 1h, .stall_signal = SIGURG});
  detail::runtime_look::wait_until_asleep(rt);
  detail::worker& only = detail::runtime_look::at(rt, 0);
  if (!only.probe() || !has_stacks()) return;  // fibers are threads, say
  const auto interrupt = [&](std::uint32_t number) noexcept { return only.interrupt(SIGURG, number); };
  CHECK_FALSE(only.probe()->take({only.turns() + 1, nullptr}, 1h, interrupt));
  CHECK_FALSE(only.probe()->take({only.turns(), &context::root()}, 1h, interrupt));
  CHECK(only.probe()->frames().empty());
  CHECK(only.probe()->take({only.turns(), nullptr}, 1h, interrupt));
  CHECK(only.probe()->awaiters().empty());
}

TEST_CASE("a signal that cannot have a handler is refused as the signal of a stall") {
  for (const int signal : {SIGKILL, SIGSEGV, 1000}) {
    CAPTURE(signal);
    CHECK_THROWS_AS(hocket::runtime({.workers = 1, .stall_limit = 1h, .stall_signal = signal}), std::system_error);
  }
}
