// The body of an answer that a function writes in pieces: a byte_sink, for http::stream_body().
//
//   http::stream_body("text/plain", [](http::body_writer& out) -> task<result<void>> {
//     for (int i = 0; i < 10; ++i) {
//       co_await or_return(out.write_all("tick\n"));                   // sent at once
//       co_await or_throw(sleep_for(1s));
//     }
//     co_return {};
//   });
//
// The function runs in a coroutine of the connection, after the handler has returned. It is cancelled if the peer is
// gone. If it returns an error, or throws, the connection is closed without the end of the body, so that the peer sees
// that the body is not complete.
//
// Framing. If the size of the body is declared, the peer gets the bytes as they are; a write beyond it fails with
// message_size, and less than it ends the connection. Otherwise a peer of HTTP/1.1 gets chunks, one for each write that
// is sent. A peer of HTTP/1.0 gets the bytes, and the end of the connection as the end of the body. After a HEAD
// request, and with the statuses 204 and 304, nothing is sent, and the function is not called.
//
// Errors: the errors of a write of the connection; timed_out, if the peer reads too slowly (limits::min_rate);
// operation_not_permitted, if the body has ended.
//
// Lifetime: until the function has returned. Thread safety: one operation at a time.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/sync/event.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {
class sender;
}  // namespace detail

// A body that is written in pieces; see above.
class body_writer {
 public:
  // How many bytes write() collects before it sends them.
  static constexpr std::size_t flush_size = std::size_t{16} * 1024;

  // `size`: the bytes that the head has declared; unlimited, if it has declared none.
  static constexpr std::uint64_t unlimited = static_cast<std::uint64_t>(-1);
  body_writer(detail::sender& sender, bool chunked, std::uint64_t size = unlimited) noexcept;
  body_writer(const body_writer&) = delete;
  body_writer& operator=(const body_writer&) = delete;

  // Sends the collected bytes and these. Returns the size of `data`.
  task<result<std::size_t>> write_all(const_buffer data);
  // Collects the bytes, and sends them when there are enough. Throws std::bad_alloc.
  task<result<void>> write(const_buffer data);
  // Sends the collected bytes.
  task<result<void>> flush();
  // How many bytes are collected.
  std::size_t size() const noexcept { return collected_; }

  // How many bytes of the body were written so far.
  std::uint64_t written() const noexcept { return written_; }

  // Waits until the server drains: a function that writes without an end returns then. From then on it returns at once.
  [[nodiscard]] auto drain_requested(call_site site = this_call_site()) noexcept { return draining_.wait(site); }

  // For the server: ends the body, and the writer. Errors: message_size, if less was written than was declared.
  task<result<void>> end();
  // For the server: further writes fail.
  void close() noexcept { sender_ = nullptr; }

 private:
  std::error_code check(std::size_t more) const noexcept;
  void collect(const_buffer data);
  void close_chunk();

  event& draining_;
  detail::sender* sender_;  // null: the body has ended
  const bool chunked_;
  const std::uint64_t size_limit_;
  std::size_t collected_ = 0;  // bytes of write() that are not sent
  std::uint64_t written_ = 0;
};
static_assert(byte_sink<body_writer> && collecting_sink<body_writer>);

}}}  // namespace hocket::http
