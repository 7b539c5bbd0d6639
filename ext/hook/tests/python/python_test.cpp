// CPython 3.11, with psycopg2 and requests. Each hooked fiber has a thread state of its own, so a wait in which CPython
// releases the GIL lets the other fibers run.
#include "interpreter.hpp"

#include <hocket/fiber/stack_use.hpp>
#include <clients/clients.hpp>
#include <thread>

using namespace client_tests;
using namespace python_tests;

namespace {

// psycopg2 and requests use 15 KB of it, select.select() 50 KB, and a recursion through C 2.5 KB for each level.
constexpr std::size_t stack_size = std::size_t{256} << 10;

// Also turns on the measuring of stacks, for pools that are made later.
bool can_run() {
  measure_stacks(true);
  return has_modules();
}

// How many fibers a soak runs at once.
const char* const soak = std::getenv("HOCKET_PYTHON_FIBERS");
int fibers_at_once() { return soak ? std::atoi(soak) : 20; }

// Parks where the GIL is released, and blocks the thread where it is held.
template <class F>
auto hooked_python(F f) {
  return hook::hooked(std::move(f), {.may_park = [] { return !holds_gil(); }});
}

using answers = std::vector<std::string>;

template <class F>
long long milliseconds_of(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
}

void call_on_threads(const char* name, answers& results) {
  std::vector<std::jthread> all;
  for (std::size_t i = 0; i < results.size(); ++i)
    all.emplace_back([&results, name, i] { results[i] = call(name, static_cast<int>(i)); });
}

void call_in_fibers(const char* name, answers& results) {
  loop lp;
  for (std::size_t i = 0; i < results.size(); ++i)
    spawn(lp, {.stack_size = stack_size},
          hooked_python([&results, name, i] { results[i] = call(name, static_cast<int>(i)); }));
  lp.run();
}

// The results of fibers of one loop, one per number; they equal the results of threads.
answers expect_equal_answers(const char* name) {
  answers by_threads(static_cast<std::size_t>(fibers_at_once())), by_fibers(by_threads.size());
  call(name, 0);  // Python imports some modules late
  const auto threads = milliseconds_of([&] { call_on_threads(name, by_threads); });
  const auto fibers = milliseconds_of([&] { call_in_fibers(name, by_fibers); });
  CHECK(by_fibers == by_threads);
  MESSAGE(std::string(name), ", ", by_fibers.size(), " at once: threads ", threads, " ms, fibers ", fibers,
          " ms, stack ", fiber_stack_statistics(stack_size).high_water, " bytes");
  return by_fibers;
}

// Counts the hooked calls with the GIL held, while it lives. If such a call parked, the next fiber of the thread that
// takes the GIL would block the thread for ever.
class held_calls {
 public:
  held_calls() {
    count_ = 0;
    hook::at_each_call = [] { count_ += holds_gil(); };
  }
  held_calls(const held_calls&) = delete;
  held_calls& operator=(const held_calls&) = delete;
  ~held_calls() { hook::at_each_call = nullptr; }
  int count() const { return count_; }

 private:
  static inline int count_ = 0;
};

std::string call_in_fiber(const char* name, int number) {
  std::string result;
  in_fiber([&] { result = call(name, number); }, {.stack_size = stack_size});
  return result;
}

// Ends a fiber that waits in psycopg2, while other fibers wait, too.
template <class End>
void end_waiting_fiber(int number, End end_it) {
  const std::size_t others = 10;
  answers results(others);
  std::string ended, watched;
  loop lp;
  auto fiber = spawn(lp, {.stack_size = stack_size}, hooked_python([&] { ended = call("wait_for_minute", number); }));
  spawn(lp, {.stack_size = stack_size}, hooked_python([&] {
          watched = call("until_waits", number);
          for (std::size_t i = 0; i < others; ++i)
            spawn(lp, {.stack_size = stack_size},
                  hooked_python([&results, i] { results[i] = call("wait", static_cast<int>(i)); }));
          end_it(fiber);
        }));
  lp.run();
  CHECK(watched == "None");
  INFO(ended);
  CHECK(ended.starts_with("OperationalError: "));
  CHECK(ended.find("Software caused connection abort") != std::string::npos);
  for (std::size_t i = 0; i < others; ++i) CHECK(results[i] == "(" + std::to_string(i) + ",)");
}

}  // namespace

TEST_CASE("python: psycopg2 in fibers gives what it gives on threads") {
  const server db("HOCKET_POSTGRES");
  if (!db || !can_run()) return;
  expect_equal_answers("wait");
  for (const std::string& row : expect_equal_answers("select")) CHECK(row.size() > 160'000);
}

TEST_CASE("python: requests in fibers gives what it gives on threads") {
  const server web("HOCKET_HTTPS"), trusted("HOCKET_HTTPS_CA");
  if (!web || !trusted || !can_run()) return;
  CHECK(expect_equal_answers("fetch")[7] == "[200, 6, 200, 100007]");
}

TEST_CASE("python: a fiber keeps its locals, its context and the exception that it handles") {
  const server db("HOCKET_POSTGRES");
  if (!db || !can_run()) return;
  CHECK(expect_equal_answers("keep_own")[7] == "(7, 7, (7,))");
}

TEST_CASE("python: an exception ends its own fiber alone") {
  const server db("HOCKET_POSTGRES");
  if (!db || !can_run()) return;
  const answers results = expect_equal_answers("fail_if_odd");
  CHECK(results[6] == "(6,)");
  CHECK(results[7] == "ValueError: (7,)");
}

TEST_CASE("python: a cancel and a kill are an exception of the fiber that waits in psycopg2") {
  const server db("HOCKET_POSTGRES");
  if (!db || !can_run()) return;
  end_waiting_fiber(1, [](const join_handle<>& fiber) { fiber.cancel(); });
  end_waiting_fiber(2, [](const join_handle<>& fiber) { fiber.kill(); });
}

TEST_CASE("python: a cancel, a deadline and a kill at each call of psycopg2") {
  const server db("HOCKET_POSTGRES");
  if (!db || !can_run()) return;
  end_everywhere([] { return call("select", 7).starts_with("(7, "); }, 10);
}

TEST_CASE("python: a cancel, a deadline and a kill at each call of requests" * doctest::skip(!soak)) {
  const server web("HOCKET_HTTPS"), trusted("HOCKET_HTTPS_CA");
  if (!web || !trusted || !can_run()) return;
  end_everywhere([] { return call("fetch", 7) == "[200, 6, 200, 100007]"; }, 10);
}

TEST_CASE("python: psycopg2 and requests hold no GIL in a call that may wait") {
  const server db("HOCKET_POSTGRES"), web("HOCKET_HTTPS"), trusted("HOCKET_HTTPS_CA");
  if (!db || !web || !trusted || !can_run()) return;
  const held_calls held;
  CHECK(call_in_fiber("select", 7).starts_with("(7, "));
  CHECK(call_in_fiber("fetch", 7) == "[200, 6, 200, 100007]");
  CHECK(held.count() == 0);
}

// psycopg2 2.9 holds the GIL in connection.cancel(), which connects to the server and waits for its answer.
TEST_CASE("python: a call that waits with the GIL held blocks the thread, and others go on afterwards") {
  const server db("HOCKET_POSTGRES");
  if (!db || !can_run()) return;
  bool done = false;
  const held_calls held;
  loop lp;
  spawn(lp, {.stack_size = stack_size}, hooked_python([&] {
          for (int i = 0; i < 20; ++i) CHECK(call("cancel_nothing", i) == std::to_string(i));
          done = true;
        }));
  spawn(lp, {.stack_size = stack_size}, hooked_python([&] {
          while (!done) CHECK(call("select", 7).starts_with("(7, "));
        }));
  lp.run();
  CHECK(held.count() == 0);
}

// In each fiber PyGILState_Ensure() uses the thread's first thread state.
TEST_CASE("python: a callback that does not wait works, in the thread state of the thread") {
  const server db("HOCKET_POSTGRES");
  if (!db || !can_run()) return;
  answers results(20);
  call_in_fibers("call_back", results);
  for (const std::string& result : results) CHECK(result == "(True, {'another state'})");
}

// Python does not know the size of the stack.
TEST_CASE("python: with a limit that fits to the stack, a recursion through C ends with an exception") {
  if (!can_run()) return;
  CHECK(call_in_fiber("recurse", 80).starts_with("RecursionError: "));
}
