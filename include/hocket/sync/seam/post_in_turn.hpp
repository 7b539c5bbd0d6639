// Posts grants, where a post can produce further grants: it unlinks the other registrations of a select, and a line of
// permits is served after each removal.
#pragma once
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Called without locks. Posts the grants. If this thread is already in post_in_turn(), appends the grants to that
// call's queue. So the stack does not grow with the number of selects.
void post_in_turn(grants&& served) noexcept;

}}}  // namespace hocket::detail
