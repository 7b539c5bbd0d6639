#include "http/sender.hpp"

#include "http/peer_waits.hpp"

#include <hocket/base/error.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

using hocket::detail::time_here;

void sender::count(duration waited, std::size_t bytes) noexcept {
  pace_.count(waited, bytes);
  sent_ += bytes;
}

void sender::skip(parts& from, std::size_t bytes) noexcept {
  for (const_buffer& part : from) {
    const std::size_t taken = std::min(bytes, part.size());
    part = const_buffer(part.data() + taken, part.size() - taken);
    bytes -= taken;
  }
}

// Most answers fit into the buffer of the socket: they need no clock and no timer.
send_state sender::write_now(parts& from, std::size_t& rest) noexcept {
  while (rest != 0) {
    auto write = peer_.write_some(from).unwrap();
    if (!write.try_now()) return send_state::blocked;
    const result<std::size_t> written = write.take();
    if (!written) {
      error_ = written.error();
      return send_state::failed;
    }
    count(duration::zero(), *written);
    skip(from, *written);
    rest -= *written;
  }
  return send_state::complete;
}

// Bytes that the system has, and the peer has not.
std::size_t sender::unsent() const noexcept {
  hocket::detail::open_descriptor& record = hocket::detail::descriptor_access::record_of(peer_);
  return record.system().unsent(record);
}

send_state sender::send_now() noexcept {
  if (error_) return send_state::failed;
  parts from{const_buffer(out_.bytes())};
  std::size_t rest = out_.size();
  const send_state state = write_now(from, rest);
  if (state == send_state::blocked) out_.drop(out_.size() - rest);
  else out_.clear();
  return state;
}

task<result<void>> sender::send(std::string_view body, std::string_view tail) {
  if (error_) co_return failure(error_);
  parts from{const_buffer(out_.bytes()), const_buffer(body), const_buffer(tail)};
  std::size_t rest = out_.size() + body.size() + tail.size();
  // If an exception ends the call, a part may have been sent.
  error_ = make_error_code(hocket::errc::partial_write);
  for (;;) {
    const send_state state = write_now(from, rest);
    if (state == send_state::complete) break;
    if (state == send_state::failed) {
      out_.clear();
      co_return failure(error_);
    }
    const std::size_t before = unsent();
    const time_point begin = time_here();
    const result<std::size_t> written = co_await wait_for_room(peer_, from, pace_);
    const std::size_t still = written ? 0 : unsent();
    if (!written && written.error() == std::errc::timed_out && still < before) {
      pace_.count(time_here() - begin, before - still);
      continue;
    }
    if (!written) {
      error_ = written.error();
      out_.clear();
      co_return failure(error_);
    }
    count(time_here() - begin, *written);
    skip(from, *written);
    rest -= *written;
  }
  out_.clear();
  error_ = {};
  co_return {};
}

}}}}  // namespace hocket::http::detail
