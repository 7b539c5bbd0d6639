// Making a connection in doubt idle again (session.hpp, "Abandoned answers").
#pragma once
#include <hocket/coro/task.hpp>

#include "session.hpp"

#include <chrono>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Sends ROLLBACK, and reads its answer. The session has no answers outstanding.
task<result<void>> roll_back(pg_session& db);

// The work of connection::drain().
task<result<void>> drain_within(pg_session& db, std::chrono::nanoseconds limit);

}}}  // namespace hocket::detail
