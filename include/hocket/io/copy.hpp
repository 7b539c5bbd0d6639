// copy: writes all bytes of a source to a sink. For both directions of two streams: net/copy_bidirectional.hpp.
//
//   std::size_t bytes = co_await or_return(copy(client, server));       // until the client has closed its side
//   co_await or_return(server.shutdown_write());
//
// A sink that collects (buffered_writer) is flushed at the end of the source, and before each wait for the source: no
// byte stays in the writer while the copy waits for the source.
//
// Limits. At most 16 KB are read and not yet written, beside the bytes that a sink has collected. So a slow sink slows
// the source down. A copy without a limit from a lending source has no buffer while it waits for bytes.
//
// Turns. A copy between a source and a sink in memory yields to other coroutines, and a stop or its deadline ends it.
//
// Errors: the errors of the source and of the sink.
//
// Cancellation. A cancelled or timed out copy loses the bytes that it has read and not yet written.
#pragma once
#include <hocket/base/seam/platform/algobase.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/io/detail/turn_check.hpp>
#include <hocket/time/within.hpp>
#include <type_traits>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

using copy_buffer = std::vector<char, frame_allocator<char>>;
inline constexpr std::size_t unlimited_copy = static_cast<std::size_t>(-1);

// Awaits read(). If the source has no byte now, flushes the sink first. If read() cannot have a deadline, flushes in
// any case, because the code cannot know.
template <collecting_sink Sink, class Read>
auto read_or_flush(Sink& sink, Read read) -> task<decltype(get_awaiter(read()).await_resume())> {
  if (sink.size() != 0) {
    if constexpr (!std::is_void_v<decltype(within(duration::zero(), read()))>) {
      auto present = co_await within(duration::zero(), read());
      if (present || present.error() != std::errc::timed_out) co_return present;
    }
    result<void> flushed = co_await sink.flush();
    if (!flushed) co_return failure(flushed.error());
  }
  co_return co_await read();
}
template <class Sink, class Read>
auto read_or_flush(Sink&, Read read) {
  return read();
}

template <class Sink>
auto write_to_sink(Sink& sink, const_buffer data) {
  if constexpr (collecting_sink<Sink>) return sink.write(data);
  else return sink.write_all(data);
}

}  // namespace detail

// Copies at most `max_size` bytes. Returns the count of copied bytes, as the next functions do.
template <byte_source Source, class Sink>
  requires(byte_sink<Sink> || collecting_sink<Sink>)
task<result<std::size_t>> copy(Source& source, Sink& sink, std::size_t max_size) {
  detail::copy_buffer buffer(std::min(max_size, detail::lending::most_bytes));
  std::size_t copied = 0;
  while (copied != max_size) {
    result<void> turn = co_await detail::check_turn();
    if (!turn) co_return failure(turn.error());
    const mutable_buffer target(buffer.data(), std::min(buffer.size(), max_size - copied));
    result<std::size_t> read = co_await detail::read_or_flush(sink, [&] { return source.read_some(target); });
    if (!read) co_return failure(read.error());
    if (*read == 0) break;
    auto written = co_await detail::write_to_sink(sink, const_buffer(buffer.data(), *read));
    if (!written) co_return failure(written.error());
    copied += *read;
  }
  if constexpr (collecting_sink<Sink>) {
    result<void> flushed = co_await sink.flush();
    if (!flushed) co_return failure(flushed.error());
  }
  co_return copied;
}

// Copies until the source has ended.
template <byte_source Source, class Sink>
  requires(!lending_source<Source> && (byte_sink<Sink> || collecting_sink<Sink>))
task<result<std::size_t>> copy(Source& source, Sink& sink) {
  return copy(source, sink, detail::unlimited_copy);
}
template <lending_source Source, class Sink>
  requires(byte_sink<Sink> || collecting_sink<Sink>)
task<result<std::size_t>> copy(Source& source, Sink& sink) {
  std::size_t copied = 0;
  for (;;) {
    result<void> turn = co_await detail::check_turn();
    if (!turn) co_return failure(turn.error());
    result<borrowed_bytes> read = co_await detail::read_or_flush(sink, [&] { return source.read_borrowed(); });
    if (!read) co_return failure(read.error());
    if (read->empty()) break;
    auto written = co_await detail::write_to_sink(sink, *read);
    if (!written) co_return failure(written.error());
    copied += read->size();
  }
  if constexpr (collecting_sink<Sink>) {
    result<void> flushed = co_await sink.flush();
    if (!flushed) co_return failure(flushed.error());
  }
  co_return copied;
}

}}  // namespace hocket
