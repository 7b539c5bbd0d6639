#include <hocket/core/executor.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/wait/seam/budget.hpp>
#include <hocket/sync/pool.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool is_ended() noexcept {
  return current_executor() && ended_already(stop_level::none, time_point::max()) != wait_end::none;
}

}}}  // namespace hocket::detail
