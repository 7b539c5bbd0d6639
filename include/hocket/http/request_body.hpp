// The body of a request that its handler reads in pieces: a byte_source, for routes with {.body = http::streamed}.
//
//   task<result<http::response>> store(http::request& rq) {
//     std::array<char, 4096> buffer;
//     while (std::size_t n = co_await or_return(rq.stream().read_some(buffer)))
//       co_await or_return(save(std::span(buffer.data(), n)));
//     co_return http::empty(http::status::created);
//   }
//
// Backpressure. The server reads from the connection only what the handler asks for, so a peer sends as fast as the
// handler reads. If the peer waits for the interim answer 100 (Expect: 100-continue), the first read sends it, or a
// successful answer by stream_body(), whose function may read.
//
// Unread bytes. If a handler answers before the end of the body, the server drops the rest up to limits::max_drain, so
// that the connection can be used again. If the rest is longer, the connection closes after the answer.
//
// Errors: http::errc::bad_request for malformed chunks, and if the peer ends in the middle of the body;
// payload_too_large, if the body is longer than the route's limit; request_timeout, if the peer sends too slowly
// (limits::min_rate); the errors of a read of the connection. After an error each read gives the same error.
//
// Lifetime: until the handler's answer is complete. Thread safety: one operation at a time.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {
class body_reader;
}  // namespace detail

// A body that is read in pieces; see above.
class request_body {
 public:
  explicit request_body(detail::body_reader& reader) noexcept : reader_(&reader) {}
  request_body(const request_body&) = delete;
  request_body& operator=(const request_body&) = delete;

  // Reads at least one byte of the body, as soon as there is one. 0: the end of the body.
  task<result<std::size_t>> read_some(mutable_buffer buffer);
  // The length that the request's head declares. std::nullopt: the body is chunked.
  std::optional<std::uint64_t> size() const noexcept;
  // The value of a field of the trailer section, after the end of a chunked body. Trailers stay apart from the fields
  // of the head, because a peer could otherwise change what was checked before.
  std::optional<std::string_view> trailer(std::string_view name) const noexcept;

 private:
  detail::body_reader* reader_;
};
static_assert(byte_source<request_body>);

}}}  // namespace hocket::http
