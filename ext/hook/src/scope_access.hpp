// What the calls ask of the scope that they are in.
#pragma once
#include <hocket/hook/hook.hpp>

namespace hocket::inline HOCKET_ABI::hook {

struct scope_access {
  // The fiber that a scope is for; null on a plain thread. Fatal where nothing can park.
  static hocket::detail::control_block* fiber_here() noexcept;
  // Of the hooked fiber that runs here.
  static scope& innermost() noexcept;

  static bool has_mutexes(const scope& in) noexcept { return in.mutexes_; }
  static bool may_park(const scope& in) noexcept { return !in.may_park_ || in.may_park_(); }
  static bool only_tries(const scope& in) noexcept { return in.trying_ != 0; }
  static void begin_trying(scope& in) noexcept { ++in.trying_; }
  static void end_trying(scope& in) noexcept { --in.trying_; }
};

}  // namespace hocket::inline HOCKET_ABI::hook
