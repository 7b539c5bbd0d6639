#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

spawn_target& current_target() noexcept {
  const scheduled* const self = scheduled_of(current_context().coroutine());
  if (!self) {
    if (auto* const target = static_cast<spawn_target*>(current_slot(thread_slot::target)))
      return target->for_children();
  }
  expects(self != nullptr, "spawn was called without a target by code that is no spawned coroutine",
          "name where it shall run: spawn(loop, f, ...)");
  return self->target().for_children();
}

}}}  // namespace hocket::detail
