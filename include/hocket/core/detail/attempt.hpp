// The part of a wait (operation.hpp) that makes an attempt when the wait is granted.
//
// Some grants are permissions. A select has several arms, and at most one of them may make its system call: so a driver
// grants an arm before the call, and the party that resumes the coroutine makes the call. If the call would block, the
// coroutine is not resumed. Its wait begins again, with the same deadline.
//
//   waiting     the wait holds a stand-in for the coroutine           a grant      attempting
//                                                                     other ends   over
//   attempting  in the coroutine's queue, thread and context          success      over
//                                                                     failure      waiting
//   over        the coroutine is resumed
//
// A grant before the coroutine has suspended is attempted at once, by the coroutine itself.
//
// Of a group (when_any), one child at a time may make an attempt, and none after the group is decided. So the child
// gives its wait a gate. Everything that is attempted, also before a wait begins, is attempted behind the gate.
#pragma once
#include <hocket/core/detail/operation_traits.hpp>
#include <hocket/core/detail/stand_in.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class attempt_gate {
 public:
  // True: the attempt may be made, and leave() follows. False: it is not wanted any more.
  [[nodiscard]] virtual bool enter() noexcept = 0;
  virtual void leave(bool succeeded) noexcept = 0;

 protected:
  ~attempt_gate() = default;
};

// Of most waits: nothing. `Op` is tried with no more ado.
template <class Op>
struct attempt {
  static bool try_now(Op& op) noexcept { return op.try_now(); }
};

template <tries_when_granted Op>
struct attempt<Op> : stand_in {
  explicit attempt(continuation granted) noexcept : stand_in(granted) {}

  bool try_now(Op& op) noexcept { return behind_gate([&] { return op.try_now(); }); }
  bool try_granted(Op& op) noexcept { return behind_gate([&] { return op.try_granted(); }); }

  std::coroutine_handle<> awaiting;
  attempt_gate* gate = nullptr;  // null: it excludes no others
  bool is_refused = false;       // by the gate

 private:
  template <class Try>
  bool behind_gate(Try&& call) noexcept {
    if (!gate) return call();
    if (!gate->enter()) return is_refused = true, false;
    const bool succeeded = call();
    gate->leave(succeeded);
    return succeeded;
  }
};

}}}  // namespace hocket::detail
