// The hooked calls' access to their scope.
#pragma once
#include <hocket/hook/hook.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

struct scope_access {
  // The running fiber, for a new scope; null on a plain thread. Fatal in a task or a raw coroutine.
  static hocket::detail::control_block* fiber_here() noexcept;
  // The innermost scope of the running hooked fiber.
  static scope& innermost() noexcept;

  static bool has_mutexes(const scope& in) noexcept { return in.mutexes_; }
  static bool may_park(const scope& in) noexcept { return !in.may_park_ || in.may_park_(); }
  static bool only_tries(const scope& in) noexcept { return in.trying_ != 0; }
  static void begin_trying(scope& in) noexcept { ++in.trying_; }
  static void end_trying(scope& in) noexcept { --in.trying_; }

  static void set_limit(scope& in, time_point limit) noexcept { in.limit_ = limit; }
  static bool has_ended_a_wait(const scope& in) noexcept { return in.limit_has_ended_a_wait_; }
  // A wait of the running hooked fiber was ended by this deadline: reports it to the scopes with this limit.
  static void report_deadline(time_point deadline) noexcept;
};

}}}  // namespace hocket::hook
