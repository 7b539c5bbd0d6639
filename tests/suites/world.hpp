// The interface of a *kind* for tests/suites: task, fiber or thread, on some executor. Each suite is written once,
// for this interface, and instantiated for every kind.
//
//   TEST_CASE_TEMPLATE("...", Kind, HOCKET_SUITE_KINDS) {
//     mutex m;
//     Kind world;                                         // after what its coroutines use
//     auto lock = [&](int n) -> typename Kind::body {
//       auto held = co_await m.lock();                  // in a fiber and a thread this is await(m.lock())
//       ...
//     };
//     auto first = world.start(lock, 1);                // nothing runs yet
//     world.settle();                                   // runs them all, one at a time, until each waits or has ended
//     world.cancel(first);
//     world.pass(50ms);                                 // time, in which nothing else happens
//     CHECK(world.ended(first) == fate::ended);
//   }
//
// Most kinds are deterministic: their coroutines run one at a time, in the order in which they became ready, and only
// in settle() and pass(). Threads, too: they take turns. The workers of a runtime do not (runtime_kinds.hpp): there
// settle() begins one coroutine after the other, each when all others wait or have ended, but coroutines that one call
// has woken run at the same time, in any order. So if several coroutines write a variable, a suite uses a std::atomic
// or a record_of<Kind, T>. It uses takes_turns<Kind> to check more for kinds that take turns.
//
// `body` is task<> for tasks. For fibers and threads it is
// direct_body: the body's coroutine runs on the stack of its fiber or thread from beginning to end, each `co_await x`
// in it is a call of await(x).
//
// The destructor kills the coroutines that have not ended. `strength` selects the primitives under test:
// on_one_thread<Kind> is the same kind, with unsync primitives. A file that includes suites defines HOCKET_SUITE_KINDS
// first.
#pragma once
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/core/wait/seam/unwind.hpp>

#include <algorithm>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace hocket_test {

enum class fate { running, ended, killed, threw };

inline fate fate_of(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const hocket::detail::forced_unwind&) {
    return fate::killed;
  } catch (...) {
    return fate::threw;
  }
}

// A body that runs where it is called. `await` of the kind waits in place.
template <class Kind>
class direct_body {
  // The result of an await that is over.
  template <class R>
  struct awaited {
    template <class Call>
    explicit awaited(Call call) : result(call()) {}
    static bool await_ready() noexcept { return true; }
    static void await_suspend(std::coroutine_handle<>) noexcept {}
    R await_resume() { return std::forward<R>(result); }
    R result;
  };

 public:
  struct promise_type {
    direct_body get_return_object() noexcept {
      return direct_body(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }

    template <class A>
    auto await_transform(A&& a) {
      using R = decltype(Kind::await(std::forward<A>(a)));
      if constexpr (std::is_void_v<R>) {
        Kind::await(std::forward<A>(a));
        return std::suspend_never{};
      } else {
        return awaited<R>([&]() -> R { return Kind::await(std::forward<A>(a)); });
      }
    }
    std::exception_ptr error;
  };

  explicit direct_body(std::coroutine_handle<promise_type> done) noexcept : done_(done) {}
  direct_body(const direct_body&) = delete;
  direct_body& operator=(const direct_body&) = delete;
  ~direct_body() { done_.destroy(); }

  // Rethrows the exception that has left the body.
  void get() {
    if (auto error = std::exchange(done_.promise().error, {})) std::rethrow_exception(std::move(error));
  }

 private:
  std::coroutine_handle<promise_type> done_;
};

// A kind that has but one thread, for primitives that may have but one.
template <class Kind>
struct on_one_thread : Kind {
  using strength = hocket::strength::unsync;
};

template <class Kind>
concept takes_turns = !requires { typename Kind::runs_side_by_side; };

// Whether they go through a queue when they let others run.
template <class Kind>
concept takes_turns_on_an_executor = takes_turns<Kind> && !requires { typename Kind::blocks_threads; };

// What coroutines noted, in the order of their coming; in any order, where they do not take turns.
template <class Kind, class T>
class record_of {
 public:
  void push_back(T one) {
    std::lock_guard guard(mutex_);
    all_.push_back(std::move(one));
  }
  // When nothing runs.
  bool operator==(const std::vector<T>& expected) const { return compared(all_) == compared(expected); }
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const T& back() const { return all_.back(); }
  const T& operator[](std::size_t i) const { return all_[i]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  static std::vector<T> compared(std::vector<T> list) {
    if constexpr (!takes_turns<Kind>) std::sort(list.begin(), list.end());
    return list;
  }
  std::mutex mutex_;
  std::vector<T> all_;
};

// A body and its arguments, which a coroutine refers to while it runs.
template <class F, class... Args>
struct kept_call {
  F body;
  std::tuple<Args...> arguments;
  decltype(auto) operator()() { return std::apply(body, arguments); }
};

}  // namespace hocket_test
