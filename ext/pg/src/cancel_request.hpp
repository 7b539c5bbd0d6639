// Cancel requests (docs/decisions/049-cancel-requests-of-pg.md).
//
// PQcancel() opens a connection of its own and blocks until the server has closed it: for ever, if the server is stuck.
// So it runs on one of at most four threads, with a PGcancel of its own. No code but drain() waits for it.
#pragma once
#include <hocket/coro/oneshot.hpp>
#include <postgresql/libpq-fe.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Asks the server to cancel what runs in the session of `handle`. The receiver gets its value when the request is over:
// the server has acted on it, or will never get it. An empty receiver: all threads are busy, or there is no memory.
oneshot_receiver<void> post_cancel_request(PGconn* handle) noexcept;

}}}  // namespace hocket::detail
