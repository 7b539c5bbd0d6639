// Under the model nobody spends the budget (core/wait/seam/budget.hpp), so that an execution can be repeated: nobody
// pauses.
#include <hocket/core/wait/seam/budget.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool can_pause() noexcept { return false; }
wait_end ended_already(stop_level, time_point) noexcept { return wait_end::none; }
bool pause_task(void*, begin_after_pause) noexcept { return false; }

}}}  // namespace hocket::detail
