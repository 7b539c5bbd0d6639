// The stack of a worker that stalls in a hooked call.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/hook/hook.hpp>
#include <hocket/runtime/runtime.hpp>

#include <algorithm>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>
#include <unit/runtime/stall_report.hpp>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

const void *leaf_function = nullptr, *middle_function = nullptr, *root_function = nullptr;
int pipe_ends[2];

void release_reader(const stall& details) noexcept {
  take_report(details);
  static_cast<void>(!::write(pipe_ends[1], "x", 1));
}

task<result<char>> leaf() {
  co_await own_function(leaf_function);
  char byte = 0;
  static_cast<void>(!::read(pipe_ends[0], &byte, 1));  // in a task: the call blocks its worker
  co_return byte;
}
task<result<char>> middle() {
  co_await own_function(middle_function);
  co_return co_await or_return(leaf());
}
task<char> root() {
  co_await own_function(root_function);
  co_return (co_await middle()).value();
}

const char* module_of(const void* address) {
  Dl_info known{};
  return ::dladdr(const_cast<void*>(address), &known) ? known.dli_fname : "";
}

}  // namespace

TEST_CASE("the report of a stall in a hooked call has the call's place, and the tasks that await its caller" *
          doctest::skip(!has_stacks())) {
  REQUIRE(::pipe(pipe_ends) == 0);
  stall_report report;
  current_report = &report;
  {
    hocket::runtime rt({.workers = 1, .stall_limit = 5ms, .on_stall = &release_reader, .stall_signal = SIGURG});
    CHECK(sync_wait(spawn(rt, root)) == 'x');
  }
  REQUIRE(report.frame_count != 0);
  CHECK(module_of(report.frames[0]) == std::string(module_of(reinterpret_cast<const void*>(&::getpid))));
  if (knows_callers) {
    std::vector<const void*> tasks = report.functions();
    std::erase_if(tasks, [](const void* function) {
      return function != leaf_function && function != middle_function && function != root_function;
    });
    const std::vector<const void*> awaiters = {middle_function, root_function};
    CHECK(is_chain(tasks, {leaf_function}, awaiters));
    CHECK(report.waiting() == awaiters);
  }
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
}
