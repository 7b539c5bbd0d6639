// What a runtime's options have it do beside its work: hooks of its workers, a dump upon a signal.
#include <hocket/base/fatal.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"
#include "unit/runtime/errors_in_memory.hpp"

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

std::atomic<unsigned> started{0}, ended{0};  // a bit for each worker
std::atomic<int> handled{0};

void note_start(std::size_t worker) { started |= 1u << worker; }
void note_stop(std::size_t worker) { ended |= 1u << worker; }
std::string name_of_this_thread() {
  char name[16] = "";
  REQUIRE(::pthread_getname_np(::pthread_self(), name, sizeof name) == 0);
  return name;
}
std::string worker_names[2];
void note_name(std::size_t worker) { worker_names[worker] = name_of_this_thread(); }
void throws(std::size_t) { throw std::runtime_error("no"); }
void note_signal(int) { ++handled; }

// What the hooks of a blocking pool have noted.
struct noted {
  std::atomic<int> starts{0}, stops{0}, elsewhere{0};
  std::atomic<unsigned> numbers{0};  // a bit for each
  void forget() noexcept {
    starts = stops = elsewhere = 0;
    numbers = 0;
  }
};
noted hook_calls;
thread_local int started_here = 0;
thread_local std::size_t number_here = 0;

void note_thread_start(std::size_t number) {
  ++started_here;
  number_here = number;
  hook_calls.numbers |= 1u << number;
  ++hook_calls.starts;
}
void note_thread_stop(std::size_t number) {
  if (started_here != 1 || number_here != number) ++hook_calls.elsewhere;
  ++hook_calls.stops;
}
int starts_here() { return started_here; }

task<> wait_for(event& bell, std::atomic<bool>& begun) {
  begun = true;
  [[maybe_unused]] auto set = co_await bell.wait();
}

}  // namespace

TEST_CASE("a hook runs on each worker before all else, and one after it") {
  started = ended = 0;
  {
    hocket::runtime rt({.workers = 3, .on_start = &note_start, .on_stop = &note_stop});
    auto seen = []() -> task<unsigned> { co_return started.load(); };
    CHECK(sync_wait(spawn(rt, seen)) != 0);
    CHECK(ended == 0);
  }
  CHECK(started == 7);
  CHECK(ended == 7);
}

TEST_CASE("a hook that throws is fatal, at the beginning and at the end") {
  auto start = [] { hocket::runtime rt({.workers = 1, .on_start = &throws}); };
  expect_fatal(start, "a hook of a runtime's worker threw");
  auto stop = [] { hocket::runtime rt({.workers = 1, .on_stop = &throws}); };
  expect_fatal(stop, "a hook of a runtime's worker threw");
}

TEST_CASE("each thread of a blocking pool calls a hook before its first call, and one at its end") {
  hook_calls.forget();
  {
    blocking_pool pool({.threads = 2, .on_start = &note_thread_start, .on_stop = &note_thread_stop});
    CHECK(hook_calls.starts == 0);
    const auto before = sync_wait(blocking(pool, &starts_here));
    CHECK(before.value() == 1);
    CHECK(hook_calls.stops == 0);
    CHECK(sync_wait(blocking(pool, &starts_here)).value() == 1);
  }
  CHECK(hook_calls.starts >= 1);
  CHECK(hook_calls.stops == hook_calls.starts);
  CHECK(hook_calls.elsewhere == 0);
}

TEST_CASE(
    "a thread of a blocking pool that was idle for too long calls its hook, and the next one has another number") {
  hook_calls.forget();
  blocking_pool pool({.threads = 1,
                      .idle = std::chrono::milliseconds(1),
                      .on_start = &note_thread_start,
                      .on_stop = &note_thread_stop});
  CHECK(sync_wait(blocking(pool, &starts_here)).value() == 1);
  while (hook_calls.stops == 0) std::this_thread::yield();
  CHECK(sync_wait(blocking(pool, &starts_here)).value() == 1);
  CHECK(hook_calls.numbers == 3);
}

TEST_CASE("a call that comes while the last thread of a blocking pool is in its hook is not lost") {
  hook_calls.forget();
  static std::atomic<bool> in_hook{false}, go_on{false};
  in_hook = go_on = false;
  auto waits = [](std::size_t number) {
    if (number != 0) return;
    in_hook = true;
    while (!go_on) std::this_thread::yield();
  };
  blocking_pool pool({.threads = 1, .idle = std::chrono::milliseconds(1), .on_stop = waits});
  CHECK(sync_wait(blocking(pool, &starts_here)));
  while (!in_hook) std::this_thread::yield();
  CHECK(sync_wait(blocking(pool, &starts_here)));
  go_on = true;
}

TEST_CASE("a hook of a blocking pool that throws is fatal, at the beginning and at the end") {
  auto start = [] {
    blocking_pool pool({.on_start = &throws});
    static_cast<void>(sync_wait(blocking(pool, [] {})));
  };
  expect_fatal(start, "a hook of a blocking_pool's thread threw");
  auto stop = [] {
    blocking_pool pool({.on_stop = &throws});
    static_cast<void>(sync_wait(blocking(pool, [] {})));
  };
  expect_fatal(stop, "a hook of a blocking_pool's thread threw");
}

TEST_CASE("the blocking pool of the process can be made with options, before it is asked for") {
  const child_end end = end_of_child([] {
    hook_calls.forget();
    blocking_pool& made = blocking_pool::make_process_pool({.threads = 1, .on_start = &note_thread_start});
    CHECK(&made == &blocking_pool::process_pool());
    CHECK(sync_wait(blocking(&starts_here)).value() == 1);
    CHECK_THROWS_AS(blocking_pool::make_process_pool({}), std::logic_error);
  });
  CHECK(end.how == "the body returned");
  const child_end forks = end_of_child([] {
    static_cast<void>(blocking_pool::process_pool());
    const child_end child = end_of_child([] {
      hook_calls.forget();
      static_cast<void>(blocking_pool::make_process_pool({.on_start = &note_thread_start}));
      CHECK(sync_wait(blocking(&starts_here)).value() == 1);
    });
    CHECK(child.how == "the body returned");
  });
  CHECK(forks.how == "the body returned");
  const child_end late = end_of_child([] {
    CHECK_THROWS_AS(blocking_pool::make_process_pool({.threads = 0}), std::system_error);
    static_cast<void>(blocking_pool::process_pool());
    CHECK_THROWS_AS(blocking_pool::make_process_pool({}), std::logic_error);
  });
  CHECK(late.how == "the body returned");
}

TEST_CASE("the threads of workers and of blocking pools bear their names, cut off where the system has no room") {
  worker_names[0] = worker_names[1] = "";
  {
    hocket::runtime rt({.workers = 2, .name = "shop", .on_start = &note_name});
  }
  CHECK(worker_names[0] == "shop-0");
  CHECK(worker_names[1] == "shop-1");
  {
    hocket::runtime rt({.workers = 1, .name = "a name that is too long", .on_start = &note_name});
  }
  CHECK(worker_names[0] == "a name that i-0");
  blocking_pool pool({.threads = 1, .name = "files"});
  auto named = sync_wait(blocking(pool, &name_of_this_thread));
  CHECK(named.value() == "files-0");
}

TEST_CASE("upon a signal a runtime is dumped to the standard error, and the handler that was there is called") {
  handled = 0;
  std::signal(SIGQUIT, &note_signal);
  const errors_in_memory errors;
  event bell;
  std::atomic<bool> begun{false};
  hocket::runtime rt({.workers = 2, .dump_on_signal = SIGQUIT});
  auto sleeper = spawn(rt, {.name = "sleeper"}, wait_for, std::ref(bell), std::ref(begun));
  while (!begun) std::this_thread::yield();
  for (int round = 1; round <= 3; ++round) {
    const std::size_t before = errors.text().size();
    std::raise(SIGQUIT);
    while (errors.text().find("sleeper", before) == std::string::npos) std::this_thread::yield();
  }
  CHECK(handled == 3);
  bell.set();
  sync_wait(std::move(sleeper));
}

TEST_CASE("a signal that was ignored, as one with three arguments too, is only dumped upon") {
  auto ignored_with_flag = [] {
    struct sigaction before{};
    before.sa_handler = SIG_IGN;
    before.sa_flags = SA_SIGINFO;
    REQUIRE(::sigaction(SIGUSR2, &before, nullptr) == 0);
    hocket::runtime rt({.workers = 1, .dump_on_signal = SIGUSR2});
    std::raise(SIGUSR2);
    detail::fatal("the end of the test", "none");
  };
  expect_fatal(ignored_with_flag, "the end of the test");
}

TEST_CASE("a signal that cannot be handled is refused") {
  CHECK_THROWS_AS(hocket::runtime({.workers = 1, .dump_on_signal = SIGKILL}), std::system_error);
  CHECK_THROWS_AS(hocket::runtime({.workers = 1, .dump_on_signal = 1000}), std::system_error);
}
