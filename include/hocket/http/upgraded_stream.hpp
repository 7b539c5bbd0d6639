// The connection of a request that was upgraded to another protocol: the stream, with the bytes that were read behind
// the request's head.
//
//   http::response open_socket(http::request&) {
//     return http::upgrade("echo", [](http::upgraded_stream peer) -> task<result<void>> {
//       std::array<char, 512> buffer;
//       while (std::size_t n = co_await or_return(peer.read_some(buffer)))
//         co_await or_return(peer.write_all(std::span(buffer.data(), n)));
//       co_return {};
//     });
//   }
//
// The function is called after the answer (101) has been sent. It owns the stream. Its task runs in the coroutine of
// the connection, and the connection ends with it. The server's limits of time and rate no longer apply. A shutdown
// that drains does not end the stream: see drain_requested() of stream().
//
// Errors, cancellation, threads: io/stream.hpp.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/net/tcp.hpp>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// The connection of an upgraded request; see above.
class upgraded_stream {
 public:
  // `first` was read from the stream, and is read again first. Throws std::bad_alloc.
  upgraded_stream(tcp::stream stream, std::string_view first) : stream_(std::move(stream)), first_(first) {}
  upgraded_stream(upgraded_stream&&) noexcept = default;
  upgraded_stream& operator=(upgraded_stream&&) noexcept = default;

  // Reads at least one byte, as soon as there is one. 0: the end.
  task<result<std::size_t>> read_some(mutable_buffer buffer);
  auto write_some(const_buffer data, call_site site = this_call_site()) noexcept {
    return stream_.write_some(data, site);
  }
  auto write_all(const_buffer data, call_site site = this_call_site()) noexcept {
    return stream_.write_all(data, site);
  }
  result<void> shutdown_write() noexcept { return stream_.shutdown_write(); }

  // The bytes that read_some() returns before it reads from the stream.
  std::string_view unread() const noexcept { return std::string_view(first_).substr(taken_); }
  // The connection. Its own reads miss the bytes of unread().
  tcp::stream& stream() noexcept { return stream_; }

 private:
  tcp::stream stream_;
  std::string first_;
  std::size_t taken_ = 0;
};
static_assert(byte_stream<upgraded_stream>);

}}}  // namespace hocket::http
