// Sends the answers of a connection: the output, and bodies that are not copied into it.
//
// Each write waits for the peer at most as long as the pace allows (pace.hpp). Bytes count for the pace when the peer's
// system has taken them. Bytes that this system has taken do not count, because a peer that takes nothing gives room
// for them, too. No event reports that the peer's system has taken bytes, so a write that waits looks once a second. A
// write that fails ends the connection: later calls return the same error.
//
// send() lets other coroutines run while the peer takes bytes without a wait (turn_share.hpp). send_now() does not: the
// job calls it, with the short answers of a run.
//
// Access: the connection's job or coroutine, whichever has the connection, and the coroutine of a handler that writes
// its body.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/http/detail/output.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/sync/event.hpp>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "http/pace.hpp"
#include "http/turn_share.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// What send_now() has reached: all bytes are sent, the system takes no more now, the write has failed.
enum class send_state : std::uint8_t { complete, blocked, failed };

class sender {
 public:
  // `draining` is set when the server drains.
  sender(tcp::stream& peer, std::uint32_t rate, duration grace, event& draining) noexcept
      : peer_(peer), pace_(rate, grace, pace::reserve_of_answers(grace)), draining_(draining) {}
  sender(const sender&) = delete;
  sender& operator=(const sender&) = delete;

  output& out() noexcept { return out_; }
  tcp::stream& peer() noexcept { return peer_; }
  event& draining() noexcept { return draining_; }
  std::error_code error() const noexcept { return error_; }
  // Bytes that the system has taken.
  std::uint64_t sent() const noexcept { return sent_; }

  // Sends the output as far as the system takes it now.
  send_state send_now() noexcept;
  // Sends the output. Without bytes it completes at once.
  task<result<void>> flush() { return send({}); }
  // Sends the output and then the bytes, in as few writes as possible.
  task<result<void>> send(std::string_view body) { return send(body, {}); }
  task<result<void>> send(std::string_view body, std::string_view tail);

 private:
  using parts = std::array<const_buffer, 3>;

  static void skip(parts& from, std::size_t bytes) noexcept;
  static parts first_of(const parts& from, std::size_t bytes) noexcept;
  send_state write_now(const parts& piece, std::size_t& count) noexcept;
  void count_taken() noexcept;
  failure fail(std::error_code error) noexcept;

  tcp::stream& peer_;
  output out_;
  pace pace_;
  event& draining_;
  std::error_code error_;
  std::uint64_t sent_ = 0;
  // For the pace: bytes of earlier answers that this system had at its first count, and all bytes that the peer's
  // system has taken since.
  std::optional<std::uint64_t> earlier_;
  std::uint64_t taken_ = 0;
  turn_share share_;
};

}}}}  // namespace hocket::http::detail
