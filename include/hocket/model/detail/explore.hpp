// The model checker: runs a small concurrent test under every schedule and every value that its loads may read.
//
//   auto r = model::explore([](model::execution& run) {
//     model::atomic<bool> ready{false, "ready"};
//     model::var<int> data{0, "data"};
//     run.thread("producer", [&] { data = 1; ready.store(true, std::memory_order_relaxed); });
//     run.thread("consumer", [&] { if (ready.load(std::memory_order_acquire)) model::require(data == 1); });
//     run.join();
//   });
//   r.found() == true: r.kind == bug::data_race, r.interleaving tells how, r.replay runs it again.
//
// TESTS. The body is called once per execution, on the caller's thread, and must do the same in each: fresh
// state, no clock, no randomness, no order of addresses, no real threads. What it shares between its threads are model
// objects: model::atomic, model::var (plain data), model::mutex, the futex functions. Everything else is invisible to
// the checker and must be private to one thread or constant. The checker's threads are coroutines of one real thread,
// so `thread_local` and std::mutex do not do what they say; thread_index() is there for per-thread slots.
//
// EXPLORATION. An execution is a sequence of decisions: which thread performs its next operation, which of the
// permitted stores a load reads, whether a weak compare-exchange fails or a futex wait returns for no reason, whether
// the time of a timed one is up, which waiter a wake takes. The checker walks this tree depth first, by running the
// body again from the start for each path. Three counters bound an execution: preemptions (a switch away from a thread
// that could have continued; switches at blocking, pausing and ending are free), stale reads (loads that did not read
// the newest store) and spurious results. Most bugs need very few of each. The bounds grow from 0 to those of
// `options`, so the first bug that is found is among the simplest ones; if a whole pass was not cut by its bounds,
// nothing is left and the search ends early with `exhaustive` set.
//
// BUGS. A failed model::require, a data race on a model::var or against an object's construction or
// destruction, a use after destruction, deadlock, a lost wake-up (a deadlock in which some thread sleeps on a futex),
// livelock, an exception that leaves a thread. The memory model and what it cannot see: src/model/memory.hpp, and
// docs/model-checker.md for users.
//
// SPIN LOOPS must call model::pause() in their body. A paused thread runs again when another one has changed something,
// and then sees the newest values of what it had been looking at (the standard's "in a finite period of time"). If
// every thread pauses or sleeps and none can change anything, that is a livelock. Without pause() a spin loop runs into
// `options::steps` at once and is reported as a livelock that it may not be.
//
// WHEN A BUG IS FOUND, the other threads are unwound by a private exception that their next operation throws; it
// passes destructors, whose operations then act plainly. A thread that cannot be unwound (the exception met a noexcept
// function, or a destructor would block) is dropped, and its objects are leaked, in that one execution.
//
// Sources. Norris, Demsky, "CDSChecker: checking concurrent data structures written with C/C++ atomics" (OOPSLA 2013):
// exploring reads-from choices beside schedules. Musuvathi, Qadeer, "Iterative context bounding for systematic testing
// of multithreaded programs" (PLDI 2007), the CHESS tool: few preemptions first. Kang, Hur, Lahav, Vafeiadis, Dreyer,
// "A promising semantics for relaxed-memory concurrency" (POPL 2017): views and messages, here without promises.
// Vyukov's Relacy Race Detector: a checker as a library under the program's own sources.
//
// Thread safety: one exploration at a time in a process, and none of its objects on another real thread.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

struct options {
  std::uint32_t preemptions = 3;         // per execution
  std::uint32_t stale_reads = 3;         // per execution
  std::uint32_t spurious = 1;            // weak compare-exchanges that fail, futex waits that return, per execution;
                                         // timed waits that end by the clock while others could run
  std::uint32_t steps = 5'000;           // operations per execution; more are reported as a livelock
  std::uint64_t executions = 0;          // gives up (report::complete false) after so many; 0: never
  std::uint64_t random = 0;              // if not 0: run so many random executions instead of all
  std::uint64_t seed = 1;                // of the random executions
  std::size_t stack_bytes = 128 * 1024;  // of each thread
  std::string_view weakened = {};        // unneeded_orderings(): only in files with this text in the path
};

enum class bug : std::uint8_t {
  none,
  assertion,  // model::require or model::fail
  data_race,
  use_after_destroy,
  deadlock,       // every thread waits for a mutex
  lost_wakeup,    // every thread waits, one of them at least on a futex or in atomic::wait
  livelock,       // threads spin and nothing can change, or the bound of steps was met
  exception,      // one left a thread
  misuse,         // of a model object: a mutex unlocked by a stranger
  nondeterminism  // the body did not repeat itself, or a replay string belongs to another test
};
[[nodiscard]] const char* to_string(bug kind) noexcept;

struct report {
  bug kind = bug::none;
  std::string message;       // one line
  std::string interleaving;  // one line per step of the execution that shows the bug
  std::string replay;        // for replay()
  std::uint64_t executions = 0;
  std::uint64_t steps = 0;  // operations of all executions
  bool complete = false;    // no bug, and all within the bounds was tried
  bool exhaustive = false;  // complete, and the bounds of preemptions, stale reads and spurious results cut nothing

  [[nodiscard]] bool found() const noexcept { return kind != bug::none; }
  // All of the above, to be printed.
  [[nodiscard]] std::string text() const;
};

namespace detail {

struct thread_body {
  virtual ~thread_body() = default;
  virtual void run() = 0;
};

template <class Function>
struct thread_function final : thread_body {
  explicit thread_function(Function f) : function(std::move(f)) {}
  void run() override { function(); }
  Function function;
};

}  // namespace detail

// One run of the body, handed to it.
class execution {
 public:
  // Declares a thread; it starts in join(). `name` must outlive the execution. At most 15.
  template <class Function>
  void thread(const char* name, Function function) {
    add(name, std::make_unique<detail::thread_function<Function>>(std::move(function)));
  }

  // Runs the threads declared since the last join to their ends. What follows happens after all that they did.
  void join();

 private:
  void add(const char* name, std::unique_ptr<detail::thread_body> body);
};

namespace detail {

struct test {
  void* object;
  void (*call)(void* object, execution& run);
};
report explore(const options& bounds, test body);
report replay(const options& bounds, std::string_view decisions, test body);
std::string unneeded_orderings(const options& bounds, std::initializer_list<test> bodies);

// A function or a callable object, const or not, by its address.
template <class Body>
test erase(Body& body) {
  if constexpr (std::is_function_v<Body>) {
    return {reinterpret_cast<void*>(&body), [](void* object, execution& run) { reinterpret_cast<Body*>(object)(run); }};
  } else {
    return {const_cast<void*>(static_cast<const void*>(std::addressof(body))),
            [](void* object, execution& run) { (*static_cast<Body*>(object))(run); }};
  }
}

}  // namespace detail

// Explores until a bug is found or everything within the bounds has been tried. An exception that leaves the body
// itself (not one of its threads) ends the exploration and is passed on.
template <class Body>
[[nodiscard]] report explore(const options& bounds, Body&& body) {
  return detail::explore(bounds, detail::erase(body));
}
template <class Body>
[[nodiscard]] report explore(Body&& body) {
  return detail::explore(options{}, detail::erase(body));
}

// Runs the one execution that `decisions` (a report's replay string) describes; its interleaving is in the report
// whether or not it shows a bug. The bounds do not matter, `steps` excepted: give a larger one if it was raised.
template <class Body>
[[nodiscard]] report replay(std::string_view decisions, Body&& body, const options& bounds = {}) {
  return detail::replay(bounds, decisions, detail::erase(body));
}

// The negative controls of a test, by the dozen: explores again and again, each time with one ordering of the code
// under test weakened by one degree (seq_cst to acq_rel, acq_rel to acquire and to release, those to relaxed). Returns
// a line for each unnoticed weakening, as "claim.cpp:47: release could be relaxed": either the ordering is not needed,
// or the test does not show why it is. A source line identifies an ordering. The unchanged body must show no bug. If
// there are several bodies, one of them must notice the weakening.
template <class... Bodies>
[[nodiscard]] std::string unneeded_orderings(const options& bounds, Bodies&&... bodies) {
  return detail::unneeded_orderings(bounds, {detail::erase(bodies)...});
}

// In the body or one of its threads: a condition that must hold. `message` must outlive the exploration.
void require(bool holds, const char* message = "a required condition does not hold",
             std::source_location where = std::source_location::current());
[[noreturn]] void fail(const char* message, std::source_location where = std::source_location::current());

// In a spin loop: lets others run until one of them has changed something.
void pause(std::source_location where = std::source_location::current());

// 0 in the body, 1, 2, ... in its threads in the order of their declaration; 0 outside of an exploration.
[[nodiscard]] std::size_t thread_index() noexcept;

// Another one in each execution; 0 outside: for per-thread slots that must be empty when an execution starts.
[[nodiscard]] std::uint64_t execution_number() noexcept;

}}}  // namespace hocket::model
