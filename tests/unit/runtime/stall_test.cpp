// Coroutines that hold their worker are told of.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>

#include "unit/runtime/errors_in_memory.hpp"

#include <atomic>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::atomic<int> rogues{0};
std::atomic<int> lines{0};

void note(const stall& of) noexcept {
  if (of.held < 5ms) return;
  if (std::strcmp(of.coroutine, "rogue") != 0) return;
  lines = static_cast<int>(of.spawned.line());
  ++rogues;
}

// Holds its worker until it is told of.
task<> hold() {
  while (rogues == 0) std::this_thread::yield();
  co_return;
}

}  // namespace

TEST_CASE("fault 8: a coroutine that does not let go is named, also where there is one worker alone") {
  for (std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    rogues = 0;
    hocket::runtime rt({.workers = workers, .stall_limit = 5ms, .on_stall = &note});
    const int here = __LINE__ + 1;
    sync_wait(spawn(rt, {.name = "rogue"}, hold));
    CHECK(rogues == 1);
    CHECK(lines == here);
  }
}

TEST_CASE("a runtime that does nothing stalls nobody, nor do many that let go") {
  rogues = 0;
  hocket::runtime rt({.workers = 2, .stall_limit = 1h, .on_stall = &note});
  auto yields = []() -> task<> {
    for (int i = 0; i < 1000; ++i) co_await yield();
  };
  sync_wait(spawn(rt, {.name = "rogue"}, yields));
  CHECK(rogues == 0);
}

TEST_CASE("what is told of a stall may dump the runtime") {
  static std::atomic<hocket::runtime*> stalled{nullptr};
  rogues = 0;
  hocket::runtime rt({.workers = 1, .stall_limit = 5ms, .on_stall = [](const stall& of) noexcept {
                        if (hocket::runtime* looked_at = stalled) looked_at->dump(-1);
                        note(of);
                      }});
  stalled = &rt;
  sync_wait(spawn(rt, {.name = "rogue"}, hold));
  CHECK(rogues == 1);
  stalled = nullptr;
}

TEST_CASE("the usual report is a line with the name and the remedy") {
  const errors_in_memory errors;
  hocket::runtime rt({.workers = 1, .stall_limit = 1ms});
  auto body = [&]() -> task<> {
    while (errors.text().find('\n') == std::string::npos) std::this_thread::yield();
    co_return;
  };
  sync_wait(spawn(rt, {.name = "rogue"}, body));
  const std::string text = errors.text();
  CHECK(text.find("coroutine \"rogue\" has held worker 0") != std::string::npos);
  CHECK(text.find("blocking() run it") != std::string::npos);
}
