#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/spawn/seam/spawn.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

spawn_target& current_target() noexcept {
  const scheduled* const self = scheduled_of(current_context().coroutine());
  expects(self != nullptr, "spawn was called without a target by code that is no spawned coroutine",
          "name where it shall run: spawn(loop, f, ...)");
  return self->target().for_children();
}

}}}  // namespace hocket::detail
