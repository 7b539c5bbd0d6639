// Which Asio: Boost's.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace net = ::boost::asio;
using asio_error_code = boost::system::error_code;

}}}  // namespace hocket::detail
