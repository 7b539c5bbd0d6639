#include "http/sender.hpp"

#include "http/peer_waits.hpp"

#include <hocket/base/clock.hpp>
#include <hocket/base/error.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

using hocket::detail::time_here;

void sender::skip(parts& from, std::size_t bytes) noexcept {
  for (const_buffer& part : from) {
    const std::size_t taken = std::min(bytes, part.size());
    part = const_buffer(part.data() + taken, part.size() - taken);
    bytes -= taken;
  }
}

sender::parts sender::first_of(const parts& from, std::size_t bytes) noexcept {
  parts first = from;
  for (const_buffer& part : first) {
    part = const_buffer(part.data(), std::min(bytes, part.size()));
    bytes -= part.size();
  }
  return first;
}

// One call. Most answers fit into the buffer of the socket: they need no clock and no timer.
send_state sender::write_now(const parts& piece, std::size_t& count) noexcept {
  auto write = peer_.write_some(piece).unwrap();
  if (!write.try_now()) return send_state::blocked;
  const result<std::size_t> written = write.take();
  if (!written) {
    error_ = written.error();
    return send_state::failed;
  }
  count = *written;
  sent_ += count;
  return send_state::complete;
}

// The peer's system has taken all bytes but those that this system still has, also of answers before the connection was
// idle. A unix socket counts its own memory, too, which may be more than the bytes.
void sender::count_taken() noexcept {
  hocket::detail::open_descriptor& record = hocket::detail::descriptor_access::record_of(peer_);
  const std::uint64_t unsent = record.system().unsent(record);
  if (!earlier_) earlier_ = unsent - std::min(unsent, sent_);
  const std::uint64_t all = *earlier_ + sent_;
  const std::uint64_t taken = all - std::min(all, unsent);
  if (taken <= taken_) return;
  pace_.count(duration::zero(), static_cast<std::size_t>(taken - taken_));
  taken_ = taken;
}

// If the peer was too slow for the pace, or for a deadline of the handler, the connection is reset. Else this system
// would hold the bytes, up to megabytes, for as long as the peer takes none.
failure sender::fail(std::error_code error) noexcept {
  if (error == std::errc::timed_out) static_cast<void>(peer_.set_reset_on_close(true));
  error_ = error;
  out_.clear();
  return failure(error);
}

send_state sender::send_now() noexcept {
  if (error_) return send_state::failed;
  parts from{const_buffer(out_.bytes())};
  for (std::size_t rest = out_.size(); rest != 0;) {
    std::size_t count = 0;
    const send_state state = write_now(from, count);
    if (state == send_state::blocked) out_.drop(out_.size() - rest);
    if (state == send_state::failed) out_.clear();
    if (state != send_state::complete) return state;
    skip(from, count);
    rest -= count;
  }
  out_.clear();
  return send_state::complete;
}

task<result<void>> sender::send(std::string_view body, std::string_view tail) {
  if (error_) co_return failure(error_);
  parts from{const_buffer(out_.bytes()), const_buffer(body), const_buffer(tail)};
  std::size_t rest = out_.size() + body.size() + tail.size();
  // If an exception ends the call, a part may have been sent.
  error_ = make_error_code(hocket::errc::partial_write);
  while (rest != 0) {
    while (share_.is_due()) {
      const result<void> turn = co_await share_.spend();
      if (!turn) co_return fail(turn.error());
    }
    const parts piece = first_of(from, turn_share::max_piece);
    std::size_t count = 0;
    const send_state state = write_now(piece, count);
    if (state == send_state::failed) co_return fail(error_);
    if (state == send_state::blocked) {
      count_taken();
      const time_point begin = time_here();
      const time_point look = deadline_after(begin, pace_.until_look());
      const result<std::size_t> written = co_await wait_for_room(peer_, piece, look);
      pace_.count(time_here() - begin, 0);
      if (!written && written.error() == std::errc::timed_out && time_here() >= look) {
        count_taken();
        if (pace_.patience() != duration::zero()) continue;
      }
      if (!written) co_return fail(written.error());
      count = *written;
      sent_ += count;
    }
    share_.add(count);
    skip(from, count);
    rest -= count;
  }
  out_.clear();
  error_ = {};
  co_return {};
}

}}}}  // namespace hocket::http::detail
