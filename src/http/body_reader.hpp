// Reads the body of a request: whole, in pieces, or to drop it.
//
// # Order of the bytes
//
// Bytes behind the body belong to the next request. So a body with a length is read up to its last byte and no further,
// and of a chunked body the input keeps what the decoder does not consume.
//
// # 100 Continue
//
// A peer that expects it waits for the interim answer before it sends the body. The first read that finds no byte sends
// it. If the body has begun to arrive, the peer does not wait. If the body is never read, the peer may or may not send
// it: then the connection cannot be used again, because the next byte may be one of the body or of a request
// (RFC 9110, 10.1.1). is_doubtful() is true then.
//
// # Errors
//
// An error of the body or of the peer is final: error() keeps it. If the reader's coroutine ends the wait for the peer
// by a cancel or a deadline of its own, no byte has moved, and a later read may go on.
//
// # Turns
//
// A read lets other coroutines run while bytes arrive without a wait (turn_share.hpp).
//
// Access: the connection's job or coroutine, whichever has the connection; the handler's coroutine, while it runs.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/http/detail/chunked_decoder.hpp>
#include <hocket/http/detail/framing.hpp>
#include <hocket/io/buffer.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/input.hpp"
#include "http/pace.hpp"
#include "http/sender.hpp"
#include "http/turn_share.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

class body_reader {
 public:
  body_reader(input& in, sender& out, std::uint32_t rate, duration grace) noexcept
      : in_(in), out_(out), pace_(rate, grace) {}
  body_reader(const body_reader&) = delete;
  body_reader& operator=(const body_reader&) = delete;

  static constexpr std::uint64_t unlimited = static_cast<std::uint64_t>(-1);

  // A request's head has been read. `max`: the limit of the body in bytes.
  void begin(const framing& body, std::uint64_t max);
  // The request is over, or its body was never begun.
  void reset() noexcept;

  // Puts the interim answer 100 into the output, if the client waits for it. True: it did. Throws std::bad_alloc.
  bool put_continue();
  // The answer has begun: no interim answer may follow, and the output may have an open chunk, which is not to be sent.
  void answer_begins() noexcept { answered_ = true; }

  bool has_ended() const noexcept { return ended_; }
  bool is_doubtful() const noexcept { return expects_ && !ended_; }
  std::error_code error() const noexcept { return error_; }
  std::optional<std::uint64_t> size() const noexcept;
  std::optional<std::string_view> trailer(std::string_view name) const noexcept;
  // The limit of the body.
  std::size_t max() const noexcept { return static_cast<std::size_t>(max_); }
  // Bytes of the body that were read.
  std::uint64_t read() const noexcept { return read_; }
  // Whether all of the rest can be dropped within `max` bytes. A chunked body may turn out to be longer.
  bool is_drainable(std::uint64_t max) const noexcept { return !error_ && (chunked_ || rest_ <= max); }

  task<result<std::size_t>> read_some(mutable_buffer buffer);
  // Appends all of the body.
  task<result<void>> read_whole(output& to);
  // A body that has arrived as a whole and is one piece, which it then takes.
  std::optional<std::string_view> take_present() noexcept;
  // Drops the rest. False: it is longer than `max`, or the read has failed.
  task<bool> drain(std::uint64_t max);

 private:
  std::error_code fail(std::error_code error) noexcept { return error_ = error; }
  task<std::error_code> wait_for_bytes(mutable_buffer room, std::size_t& count);
  task<std::error_code> refill();
  void drop_present();
  std::size_t copy_rest(mutable_buffer buffer) noexcept;
  // One step of a chunked body. Empty: more input is needed, or the body has ended, or error_ is set.
  std::string_view decode(std::size_t max);

  input& in_;
  sender& out_;
  pace pace_;
  turn_share share_;
  bool chunked_ = false, expects_ = false, answered_ = false, ended_ = true;
  std::uint64_t rest_ = 0;  // of a body with a length
  std::uint64_t length_ = 0, max_ = 0, read_ = 0;
  std::error_code error_;
  std::optional<chunked_decoder> decoder_;
  output trailers_;
};

}}}}  // namespace hocket::http::detail
