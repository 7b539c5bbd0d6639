// What the system's tools show of the library's threads.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/runtime.hpp>

#include "runtime/platform/thread_name.hpp"

#include <algorithm>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <pthread.h>
#include <set>
#include <string>
#include <thread>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Of all threads of the process.
std::set<std::string> names_of_threads() {
  std::set<std::string> names;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    if (std::getline(std::ifstream(thread.path() / "comm"), name)) names.insert(name);
  }
  return names;
}

template <class Role>
std::string name_by(const char* name, Role role) {
  std::string result;
  std::thread([&] {
    detail::name_this_thread(name, role);
    char text[32];
    REQUIRE(::pthread_getname_np(::pthread_self(), text, sizeof text) == 0);
    result = text;
  }).join();
  return result;
}

}  // namespace

TEST_CASE("each thread of a runtime has a name of its own") {
  const blocking_pool_options pool_options{.name = "disk"};
  blocking_pool disk(pool_options);
  hocket::runtime rt({.workers = 2, .name = "shop", .stall_limit = 1h, .dump_on_signal = SIGUSR1});
  // A thread names itself when it begins: each one does so in the end.
  const std::set<std::string> expected = {"shop-0", "shop-1", "shop-watch", "shop-stalls", "shop-dump", "disk-0"};
  auto wait_for_names = [&]() -> task<> {
    for (bool all = false; !all;) {
      const auto names = co_await blocking(disk, names_of_threads);
      all = names && std::includes(names->begin(), names->end(), expected.begin(), expected.end());
    }
  };
  sync_wait(spawn(rt, wait_for_names));
}

TEST_CASE("a name that is too long for the system is cut off, and the role stays") {
  CHECK(name_by("shop", "watch") == "shop-watch");
  CHECK(name_by("a very long name of a shop", "watch") == "a very lo-watch");
  CHECK(name_by("a very long name of a shop", std::size_t{1023}) == "a very lon-1023");
  CHECK(name_by("123456789012345", "stalls") == "12345678-stalls");
  CHECK(name_by("", "dump") == "-dump");
}
