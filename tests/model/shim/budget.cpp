// Under the model nobody spends the budget (core/budget.hpp), so that an execution can be repeated: nobody pauses.
#include <hocket/core/budget.hpp>

namespace hocket::inline HOCKET_ABI::detail {

bool can_pause() noexcept { return false; }
verdict ended_already(verdict, time_point) noexcept { return verdict::idle; }
bool pause_task(void*, begin_after_pause) noexcept { return false; }

}  // namespace hocket::inline HOCKET_ABI::detail
