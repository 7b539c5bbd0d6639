#include "http/sender.hpp"

#include "http/peer_waits.hpp"

#include <hocket/base/error.hpp>
#include <hocket/core/thread/seam/timer.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

using hocket::detail::time_here;

void sender::count(duration waited, std::size_t bytes) noexcept {
  pace_.count(waited, bytes);
  sent_ += bytes;
}

void sender::skip(std::array<const_buffer, 3>& parts, std::size_t bytes) noexcept {
  for (const_buffer& part : parts) {
    const std::size_t taken = std::min(bytes, part.size());
    part = const_buffer(part.data() + taken, part.size() - taken);
    bytes -= taken;
  }
}

task<result<void>> sender::send(std::string_view body, std::string_view tail) {
  if (error_) co_return failure(error_);
  std::array<const_buffer, 3> parts{const_buffer(out_.bytes()), const_buffer(body), const_buffer(tail)};
  std::size_t rest = out_.size() + body.size() + tail.size();
  // If an exception ends the call, a part may have been sent.
  error_ = make_error_code(hocket::errc::partial_write);
  while (rest != 0) {
    const time_point begin = time_here();
    const result<std::size_t> written = co_await wait_for_room(peer_, parts, pace_);
    if (!written) {
      error_ = written.error();
      out_.clear();
      co_return failure(error_);
    }
    count(time_here() - begin, *written);
    skip(parts, *written);
    rest -= *written;
  }
  out_.clear();
  error_ = {};
  co_return {};
}

}}}}  // namespace hocket::http::detail
