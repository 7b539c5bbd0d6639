// copy: writes all bytes of a source to a sink.
//
//   std::size_t bytes = co_await or_return(copy(client, server));       // until the client has closed its side
//   co_await or_return(server.shutdown_write());
//
// Limits. At most 16 KB are read and not yet written, so a slow sink slows the source down. A copy without a limit from
// a lending source has no buffer while it waits for bytes.
//
// Errors: the errors of the source and of the sink.
//
// Cancellation. A cancelled or timed out copy loses the bytes that it has read and not written.
#pragma once
#include <hocket/coro/detail/frame_allocator.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <algorithm>
#include <limits>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// Copies at most `max_size` bytes. Returns how many bytes it copied; so do the next functions.
template <byte_source Source, byte_sink Sink>
task<result<std::size_t>> copy(Source& source, Sink& sink, std::size_t max_size) {
  std::vector<char, detail::frame_allocator<char>> buffer(std::min(max_size, detail::lending::most_bytes));
  std::size_t copied = 0;
  while (copied != max_size) {
    result<std::size_t> read =
        co_await source.read_some(mutable_buffer(buffer.data(), std::min(buffer.size(), max_size - copied)));
    if (!read) co_return failure(read.error());
    if (*read == 0) break;
    result<std::size_t> written = co_await sink.write_all(const_buffer(buffer.data(), *read));
    if (!written) co_return failure(written.error());
    copied += *written;
  }
  co_return copied;
}

template <byte_source Source, byte_sink Sink>
  requires(!lending_source<Source>)
task<result<std::size_t>> copy(Source& source, Sink& sink) {
  return copy(source, sink, std::numeric_limits<std::size_t>::max());
}
template <lending_source Source, byte_sink Sink>
task<result<std::size_t>> copy(Source& source, Sink& sink) {
  std::size_t copied = 0;
  for (;;) {
    result<borrowed_bytes> read = co_await source.read_borrowed();
    if (!read) co_return failure(read.error());
    if (read->empty()) co_return copied;
    result<std::size_t> written = co_await sink.write_all(*read);
    if (!written) co_return failure(written.error());
    copied += *written;
  }
}

}}  // namespace hocket
