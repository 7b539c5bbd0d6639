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
#include <hocket/core/thread/seam/stand_in.hpp>
#include <hocket/core/wait/detail/claim.hpp>
#include <concepts>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A grant of the operation permits an attempt, which may fail.
template <class Op>
concept tries_when_granted = requires(Op& op) {
  { op.try_granted() } -> std::same_as<bool>;
};

class attempt_gate {
 public:
  // True: the attempt may be made, and leave() follows. False: the group is decided.
  [[nodiscard]] virtual bool enter() noexcept = 0;
  virtual void leave(bool succeeded) noexcept = 0;

 protected:
  ~attempt_gate() = default;
};

// A base of `Wait`, the wait for an `Op`. For most operations it does nothing.
template <class Wait, class Op>
class attempt {
 protected:
  static bool try_now(Op& op) noexcept { return op.try_now(); }
};

template <class Wait, tries_when_granted Op>
class attempt<Wait, Op> : stand_in {
 protected:
  attempt() noexcept : stand_in(&attempt::resume) {}

  void set_attempt_gate(attempt_gate& gate) noexcept { gate_ = &gate; }
  bool try_now(Op& op) noexcept {
    return behind_gate([&] { return op.try_now(); });
  }

  // As Wait::begin().
  bool begin_attempts(std::coroutine_handle<> handle) noexcept {
    awaiting_ = handle;
    do {
      const std::coroutine_handle<migratable_header> queued = open_stand_in();
      if (!queued) return self().lacks_room();
      if (self().begin_wait(queued)) return true;
      close(queued);
      if (!self().is_suspended()) return false;
    } while (!is_concluded());
    return false;
  }

 private:
  Wait& self() noexcept { return static_cast<Wait&>(*this); }

  template <class Try>
  bool behind_gate(Try&& call) noexcept {
    if (!gate_) return call();
    if (!gate_->enter()) {
      is_refused_ = true;
      return false;
    }
    const bool succeeded = call();
    gate_->leave(succeeded);
    return succeeded;
  }

  std::coroutine_handle<migratable_header> open_stand_in() noexcept try {
    return open(static_cast<stand_in&>(*this));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  // For the suspended wait, after its end. False: the attempt has failed, and the wait is to begin again.
  bool is_concluded() noexcept {
    const wait_end cause = self().finish_wait();
    const auto call = [this] { return self().op().try_granted(); };
    const bool has_failed = cause == wait_end::granted && !behind_gate(call);
    self().conclude(has_failed ? wait_end::cancelled : cause);
    if (!has_failed || is_refused_) return true;
    self().end_begun();
    return false;
  }

  static std::coroutine_handle<> resume(stand_in& frame) noexcept {
    auto& resumed = static_cast<attempt&>(frame);
    const std::coroutine_handle<> awaiting = resumed.awaiting_;
    return resumed.is_concluded() || !resumed.begin_attempts(awaiting) ? awaiting : nullptr;
  }

  std::coroutine_handle<> awaiting_;
  attempt_gate* gate_ = nullptr;  // null: it excludes no others
  bool is_refused_ = false;       // by the gate
};

}}}  // namespace hocket::detail
