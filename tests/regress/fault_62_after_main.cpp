// Fault 62: runtimes that end with the program, a thread or a library. A static runtime is
// destroyed after main, when the main thread's own variables are destroyed; a thread_local runtime, beside them; a
// runtime of a library, by dlclose. Each unwinds its remaining coroutines. (By one of its own workers: fatal,
// tests/unit/runtime/runtime_test.cpp.)
#include <hocket/core/sync_wait.hpp>
#include <hocket/runtime/runtime.hpp>

#include "regress/every_state.hpp"
#include "support/death.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr int nothing_left = 7, something_left = 8, not_loaded = 9;
constexpr const char* ended_well = "exit code 7";

// Destroyed after what was constructed after it.
struct tells_what_is_left {
  ~tells_what_is_left() { std::_Exit(counted::live == 0 ? nothing_left : something_left); }
};

struct everything {
  surroundings in;
  std::vector<join_handle<>> handles;
  hocket::runtime rt{{.workers = 2}};

  void begin() { handles = spawn_in_every_state(rt, in, busy::yes); }
};

void static_runtime(void*) {
  static tells_what_is_left last;
  static everything all;
  all.begin();
  std::exit(0);
}

void runtime_of_a_thread(void*) {
  std::thread owner([] {
    thread_local everything all;
    all.begin();
  });
  owner.join();
  std::_Exit(counted::live == 0 ? nothing_left : something_left);
}

// What the library's tasks have left when its runtime has ended; -1 before.
int left_by_library = -1;

void load_and_unload(void*) {
  std::atexit([] { std::_Exit(left_by_library == 0 ? nothing_left : something_left); });
  bool unloads = true;
  for (int i = 0; i < 20 && unloads; ++i) {
    left_by_library = -1;
    void* library = nullptr;
    std::thread user([&] {  // a thread that has used it keeps it until it ends
      library = ::dlopen(HOCKET_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
      if (!library) std::_Exit(not_loaded);
      reinterpret_cast<void (*)(int*)>(::dlsym(library, "leave_tasks"))(&left_by_library);
    });
    user.join();
    ::dlclose(library);
    unloads = ::dlopen(HOCKET_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD) == nullptr;
    if (unloads && left_by_library != 0) std::_Exit(something_left);
  }
  std::exit(0);
}

}  // namespace

TEST_CASE("fault 62: a runtime that is a static variable ends after main") {
  const child_end end = run_in_child(&static_runtime, nullptr);
  INFO(end.errors);
  CHECK(end.how == ended_well);
}

TEST_CASE("fault 62: a runtime that is a thread's own ends with it") {
  const child_end end = run_in_child(&runtime_of_a_thread, nullptr);
  INFO(end.errors);
  CHECK(end.how == ended_well);
}

// Where fibers are threads each of hocket's threads registers its end with the system, which would wait for the loader.
TEST_CASE("fault 62: a runtime of a library ends when the library is unloaded" *
          doctest::skip(HOCKET_BACKEND == 2 || HOCKET_PORTABLE)) {
  const child_end end = run_in_child(&load_and_unload, nullptr);
  INFO(end.errors);
  CHECK(end.how == ended_well);
}
