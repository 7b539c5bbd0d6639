// The state that all houses of the process share (housekeeping.hpp).
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct housekeeper;

// The terms of a decay have changed: each house looks once.
void change_house_terms() noexcept;

// What all houses of the process go by.
struct house_rules {
  atomic<std::uint64_t> terms{0};  // how often they have changed
  atomic<const housekeeper*> other{nullptr};
};
extern house_rules rules_of_houses;

}}}  // namespace hocket::detail
