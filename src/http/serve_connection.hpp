// The coroutine of a connection, from its accept to its end.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/net/tcp.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class site;

task<result<void>> serve_connection(tcp::stream peer, site& home);

}}}}  // namespace hocket::http::detail
