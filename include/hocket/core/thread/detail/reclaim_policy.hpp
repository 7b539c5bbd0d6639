// The state that all memory_reclaimers of the process share (housekeeping.hpp).
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct housekeeper;

// Makes each memory_reclaimer of the process reclaim once. Called after a change of the decay.
void bump_policy_version() noexcept;

// The policy of all memory_reclaimers.
struct reclaim_policy {
  atomic<std::uint64_t> version{0};  // the number of changes
  atomic<const housekeeper*> registered{nullptr};
};
extern reclaim_policy process_reclaim_policy;

}}}  // namespace hocket::detail
