// Options for spawn().
#pragma once
#include <hocket/base/seam/literal_name.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/base/seam/time_point.hpp>
#include <cstddef>
#include <cstdint>
#include <source_location>

namespace hocket { inline namespace HOCKET_ABI {

// The kind of stack of a fiber (fiber/spawn.hpp).
enum class stack_kind : std::uint8_t { own, dense, copied };

// Options for a spawned coroutine.
struct spawn_options {
  literal_name name{};                 // for messages, dumps, debuggers; an outliving_name() outlives the handle, too
  duration within = duration::max();   // from the spawn; then the coroutine's waits end with timed_out
  std::size_t stack_size = 0;          // fibers only, usable bytes; 0: 64 KiB (dense: 8, on aarch64 16)
  stack_kind stack = stack_kind::own;  // fibers only
  duration hibernate_after = duration::max();  // fibers only: a fiber parked for longer is packed (fiber/hibernate.hpp)
  bool own_floating_point = false;             // fibers only: fiber/spawn.hpp
  bool migratable = false;                     // fibers only: fiber/spawn.hpp
  bool daemon = false;                         // holds no drain: core/spawn/seam/daemon_group.hpp
  std::source_location location = std::source_location::current();
};
static_assert(detail::owns_nothing<spawn_options>);

}}  // namespace hocket
