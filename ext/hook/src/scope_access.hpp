// The hooked calls' access to their scope.
#pragma once
#include <hocket/fiber/seam/running_stack.hpp>
#include <hocket/hook/hook.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

struct scope_access {
  static const hocket::detail::slot_kind kind;

  // Fatal in a task or a raw coroutine. False on a plain thread.
  static bool expect_fiber() noexcept;

  // The innermost scope of a fiber. Null if it has none, or if `fiber` is null.
  static scope* find(const context* fiber) noexcept {
    return fiber ? static_cast<scope*>(hocket::detail::coroutine_slot::find(fiber->slot(), kind)) : nullptr;
  }
  // The innermost scope of the running hooked fiber.
  static scope& innermost() noexcept { return *find(hocket::detail::running_fiber_context()); }
  static scope* outer(const scope& in) noexcept { return static_cast<scope*>(in.outer()); }

  // Whether the slot is a scope without a function that asks.
  static bool always_parks(const hocket::detail::coroutine_slot& slot) noexcept {
    return &slot.kind() == &kind && !static_cast<const scope&>(slot).may_park_;
  }

  // Until hook_again(), calls in these scopes of the running fiber are not hooked.
  static void unhook() noexcept;
  static void hook_again() noexcept;
  static bool is_unhooked(const scope& in) noexcept { return in.may_park_ == &never; }

  static bool has_mutexes(const scope& in) noexcept { return in.mutexes_; }
  static bool may_park(const scope& in) noexcept { return !in.may_park_ || in.may_park_(); }
  static bool only_tries(const scope& in) noexcept { return in.trying_ != 0; }
  static void begin_trying(scope& in) noexcept { ++in.trying_; }
  static void end_trying(scope& in) noexcept { --in.trying_; }

  static void set_limit(scope& in, time_point limit) noexcept { in.limit_ = limit; }
  static bool has_ended_a_wait(const scope& in) noexcept { return in.limit_has_ended_a_wait_; }
  // A wait of the running hooked fiber was ended by this deadline: reports it to the scopes with this limit.
  static void report_deadline(time_point deadline) noexcept;

 private:
  static bool never() noexcept { return false; }
};

}}}  // namespace hocket::hook
