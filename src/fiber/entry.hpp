// The functions behind a fiber's handle. `native/` has them as assembly stubs, so that a suspended fiber is a
// coroutine_handle<>; `conforming/` leaves them out and wraps the fiber in a real C++20 coroutine instead.
#pragma once
#include <hocket/core/thread/seam/frame.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The beginning of a control block: its resume function identifies the kind of fiber. `resume` is never null here: that
// would mean finished.
extern const frame_head raw_entry_points;
extern const frame_head scheduled_entry_points;   // on one thread
extern const frame_head migratable_entry_points;  // migration.hpp

}}}  // namespace hocket::detail
