// Shared by the tests of clients. tests/servers/with_servers.py starts the servers.
#pragma once
#include <hocket/fiber/stack_use.hpp>
#include <blocking.hpp>
#include <caller.hpp>
#include <filesystem>
#include <optional>
#include <servers/server.hpp>
#include <string>
#include <thread>
#include <vector>

namespace client_tests {

using namespace hooked_tests;

using hocket_test::server;

// Runs f() on its own thread; returns how much stack f()'s hooked fibers used.
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

// Runs the session on a plain thread, then in `count` hooked fibers of one loop at once, on stacks of the default size.
// All results are equal.
template <class Session>
void expect_equal_output(int count, Session session) {
  const std::string plain = session();
  CHECK_FALSE(plain.empty());
  std::vector<std::string> hooked(static_cast<std::size_t>(count));
  const std::size_t deepest = high_water_of([&] {
    loop lp;
    std::vector<join_handle<>> fibers;
    for (std::string& output : hooked) fibers.push_back(spawn(lp, hook::hooked([&] { output = session(); })));
    lp.run();
    for (auto& fiber : fibers) sync_wait(fiber);
  });
  for (const std::string& output : hooked) CHECK(output == plain);
  MESSAGE(deepest, " bytes of stack");
  if (hocket::detail::sanitizer == hocket::detail::sanitizer_kind::plain) CHECK(deepest <= 24 * 1024);
}

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// While it lives, each hooked call runs count() first.
class call_counter {
 public:
  // Calls f() at hooked call number `at`, counted from 1.
  template <class F>
  call_counter(int at, F& f) noexcept : at_(at), f_(&f), call_([](void* with) { (*static_cast<F*>(with))(); }) {
    current_ = this;
    hook::at_each_call = [] { current_->count(); };
  }
  call_counter(const call_counter&) = delete;
  call_counter& operator=(const call_counter&) = delete;
  ~call_counter() { hook::at_each_call = nullptr; }
  int calls() const { return calls_; }

 private:
  void count() {
    if (++calls_ == at_) call_(f_);
  }
  static inline call_counter* current_ = nullptr;
  const int at_;
  void* const f_;
  void (*const call_)(void*);
  int calls_ = 0;
};

// Runs session() once for each of its hooked calls, and at that call ends the fiber by end_it(fiber). After each run
// all descriptors are closed and no coroutine is left. session() returns whether it succeeded. Returns how many calls a
// whole session makes.
template <class Session, class End>
int end_at_each_call(Session session, End end_it) {
  for (int at = 1;; ++at) {
    CAPTURE(at);
    loop lp;  // its driver lives as long as the loop
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
    CHECK(open_descriptors() <= open_before + 3);  // the driver's descriptors
    if (counter.calls() < at) {
      CHECK(well);
      return counter.calls();
    }
  }
}

// A cancel and a kill at each call; then growing deadlines, until the session ends before its deadline.
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
