#include <hocket/base/fatal.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

#include "runtime/runtime_state.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

worker_at::worker_at(runtime& on, std::size_t index) noexcept : on_(on), first_(on.state_->at(index)) {
  expects(index < on.workers(), "a worker was named that a runtime does not have", "they are numbered from 0",
          on.state_->name);
}

}}}  // namespace hocket::detail
