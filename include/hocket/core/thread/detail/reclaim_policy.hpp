// The state that all houses of the process share (housekeeping.hpp).
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct housekeeper;

// The terms of a decay have changed: each house looks once.
void bump_policy_version() noexcept;

// What all houses of the process go by.
struct reclaim_policy {
  atomic<std::uint64_t> version{0};  // how often they have changed
  atomic<const housekeeper*> registered{nullptr};
};
extern reclaim_policy process_reclaim_policy;

}}}  // namespace hocket::detail
