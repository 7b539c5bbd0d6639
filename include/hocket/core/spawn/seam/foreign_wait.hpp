// foreign_wait: lets a coroutine of hocket await an awaitable that is not hocket's own.
//
// A foreign awaitable resumes its handle on any thread, at any time. An executor alone resumes hocket's coroutines. So
// the awaitable receives the handle of a bridge (core/spawn/detail/bridge.hpp), and the coroutine continues from its
// executor, on its own thread, under its own context. `co_await` in a task and `await` in a fiber wrap automatically.
// The results and exceptions of the awaitable pass unchanged.
//
// Such a wait can be neither cancelled nor timed nor killed, because the handle cannot be taken back. A kill takes
// effect at the coroutine's next wait, foreign or not. If a loop is destroyed under a foreign wait, that is fatal; the
// message names the coroutine. An awaitable that resumes its handle and then does not suspend (by false, or by an
// exception) is wrong in all of C++, and fatal here. It must not destroy the handle. Without an executor (a chain that
// is driven by hand) no bridge is made, because it could not post.
#pragma once
#include <hocket/base/seam/delayed.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/core/spawn/detail/bridge.hpp>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

class context;

namespace detail {

// Whether `co_await` and `await` wrap an A.
template <class A>
concept foreign_awaitable = awaitable<A> && !trusted_awaiter<awaiter_of<A>>;

// `A` is the type of the awaited operand, as a forwarding reference deduces it.
template <foreign_awaitable A>
class foreign_wait : public own_awaiter {
  using inner = std::remove_reference_t<awaiter_of<A>>;
  static_assert(awaiter<inner>,
                "hocket: await_suspend of a foreign awaiter must accept a std::coroutine_handle<>: hocket's coroutines "
                "have no promise of a type that it could name");
  using given_answer = decltype(std::declval<inner&>().await_suspend(std::coroutine_handle<>{}));
  using answer = std::conditional_t<is_plain_answer<given_answer>, given_answer, std::coroutine_handle<>>;

 public:
  explicit foreign_wait(A&& a) : inner_(get_awaiter(std::forward<A>(a))) {}
  foreign_wait(const foreign_wait&) = delete;
  foreign_wait& operator=(const foreign_wait&) = delete;

  decltype(auto) await_ready() { return inner_.await_ready(); }

  answer await_suspend(std::coroutine_handle<> self) {
    std::coroutine_handle<> stand_in = begin(self);
    try {
      if constexpr (std::is_same_v<answer, bool>) {
        const bool suspends = inner_.await_suspend(stand_in);
        if (!suspends && bridge_) bridge_->withdraw();
        return suspends;
      } else {
        return inner_.await_suspend(stand_in);
      }
    } catch (...) {
      if (bridge_) bridge_->withdraw();
      throw;
    }
  }

  decltype(auto) await_resume() {
    if (bridge_) bridge_->end();
    return inner_.await_resume();
  }

 private:
  std::coroutine_handle<> begin(std::coroutine_handle<> self) {
    if (!bridge::possible()) return self;
    bridge_.emplace(self);
    return bridge_->handle();
  }

  awaiter_of<A> inner_;
  delayed<bridge> bridge_;
};

// The awaiter of an A (an object, or an lvalue reference) in a coroutine of hocket: its own awaiter, or one behind a
// bridge.
template <class A, class Where = anywhere>
struct way_to_await {
  using awaiter = awaiter_where<A&&, Where>;
  static awaiter begin(A&& awaitable_object) { return Where::begin(std::forward<A>(awaitable_object)); }
};
template <foreign_awaitable A, class Where>
struct way_to_await<A, Where> {
  using awaiter = foreign_wait<A>;
  static awaiter begin(A&& awaitable_object) { return awaiter(std::forward<A>(awaitable_object)); }
};

}  // namespace detail

}}  // namespace hocket
