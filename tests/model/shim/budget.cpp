// Under the model no operation spends the budget (core/wait/seam/budget.hpp), so no operation pauses, and an execution
// can be repeated.
#include <hocket/core/wait/seam/budget.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool can_pause() noexcept { return false; }
wait_end ended_already(stop_level, time_point) noexcept { return wait_end::none; }
bool pause_task(void*, begin_after_pause) noexcept { return false; }

}}}  // namespace hocket::detail
