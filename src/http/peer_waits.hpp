// The waits of a connection's coroutine for its peer, each with its limit. A coroutine waits for the peer in no other
// place, so a change of how limits are kept is a change of this header. (Without a request the job waits:
// connection_job.hpp.)
//
//   phase                    limit                                       end
//   within a head            limits::head, from its first byte           408
//   within a body            the pace (pace.hpp)                         408
//   within an answer         the pace, with a look once a second         reset
//
// A wait that has lasted to its limit, or to the next look, fails with std::errc::timed_out.
#pragma once
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/time/within.hpp>
#include <span>

#include "http/pace.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

inline auto wait_for_head(tcp::stream& peer, mutable_buffer room, time_point deadline) {
  return within(deadline, peer.read_some(room));
}

inline auto wait_for_body(tcp::stream& peer, mutable_buffer room, const pace& speed) {
  return within(speed.patience(), peer.read_some(room));
}

inline auto wait_for_room(tcp::stream& peer, std::span<const const_buffer> parts, time_point look) {
  return within(look, peer.write_some(parts));
}

}}}}  // namespace hocket::http::detail
