// What the tests of clients have in common. The servers are started by tests/servers/with_servers.py.
#pragma once
#include <hocket/fiber/stack_use.hpp>
#include <blocking.hpp>
#include <caller.hpp>
#include <filesystem>
#include <optional>
#include <servers/told.hpp>
#include <string>
#include <thread>
#include <vector>

namespace client_tests {

using namespace hooked_tests;

using hocket_test::server;

// How deep the stacks of the hooked fibers were used that f() runs on a thread of its own.
template <class F>
std::size_t high_water_of(F f) {
  std::size_t deepest = 0;
  measure_stacks(true);
  std::thread([&] {
    f();
    deepest = fiber_stack_statistics().high_water;
  }).join();
  measure_stacks(false);
  return deepest;
}

// The same function on a plain thread and in `count` hooked fibers of one loop at once: each gives the same, on a stack
// of the default size.
template <class Session>
void expect_equal_output(int count, Session session) {
  const std::string plain = session();
  CHECK_FALSE(plain.empty());
  std::vector<std::string> hooked(static_cast<std::size_t>(count));
  const std::size_t deepest = high_water_of([&] {
    loop lp;
    std::vector<join_handle<>> all;
    for (std::string& one : hooked) all.push_back(spawn(lp, hook::hooked([&] { one = session(); })));
    lp.run();
    for (auto& one : all) sync_wait(one);
  });
  for (const std::string& one : hooked) CHECK(one == plain);
  MESSAGE(deepest, " bytes of stack");
  if (hocket::detail::sanitizer == hocket::detail::sanitizer_kind::plain) CHECK(deepest <= 24 * 1024);
}

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// While it lives, each hooked call comes here first.
class call_counter {
 public:
  // Calls f() at the call of that number, counted from 1.
  template <class F>
  call_counter(int at, F& f) noexcept : at_(at), f_(&f), call_([](void* with) { (*static_cast<F*>(with))(); }) {
    here = this;
    hook::at_each_call = [] { here->count(); };
  }
  call_counter(const call_counter&) = delete;
  call_counter& operator=(const call_counter&) = delete;
  ~call_counter() { hook::at_each_call = nullptr; }
  int calls() const { return calls_; }

 private:
  void count() {
    if (++calls_ == at_) call_(f_);
  }
  static inline call_counter* here = nullptr;
  const int at_;
  void* const f_;
  void (*const call_)(void*);
  int calls_ = 0;
};

// Runs session(), which says whether all has gone well, once for each of its hooked calls, and ends the fiber there by
// end_it(fiber). Each time all descriptors are closed at the end, and no coroutine is left. Gives how many calls a
// whole session makes.
template <class Session, class End>
int end_at_each_call(Session session, End end_it) {
  for (int at = 1;; ++at) {
    CAPTURE(at);
    loop lp;  // its driver stays until its end
    bool over = false, well = false;
    const std::size_t open_before = open_descriptors();
    std::optional<join_handle<>> fiber;
    auto ends = [&] { end_it(*fiber); };
    const call_counter counter(at, ends);
    fiber.emplace(spawn(lp, hook::hooked([&] {
                          well = session();
                          over = true;
                        })));
    lp.run();
    CHECK(over);
    CHECK(lp.live() == 0);
    CHECK(open_descriptors() <= open_before + 3);  // the driver's own
    if (counter.calls() < at) {
      CHECK(well);
      return counter.calls();
    }
  }
}

// A cancel and a kill at each call, and a deadline somewhere in the session, again and again until it is not met.
template <class Session>
void end_everywhere(Session session, int calls_at_least) {
  CHECK(end_at_each_call(session, [](const join_handle<>& fiber) { fiber.cancel(); }) >= calls_at_least);
  CHECK(end_at_each_call(session, [](const join_handle<>& fiber) { fiber.kill(); }) >= calls_at_least);
  bool whole = false;
  duration time = 100us;
  while (!whole) {
    const std::size_t open_before = open_descriptors();
    in_fiber([&] { whole = session(); }, {.within = time});
    CHECK(open_descriptors() == open_before);
    time += time / 2;
  }
}

}  // namespace client_tests
