// copy_bidirectional: carries all bytes between two streams, in both directions; a proxy.
//
//   task<result<void>> proxy(tcp::stream client, socket_address to) {
//     auto server = co_await or_return(tcp::connect(to));
//     copied_bytes bytes = co_await or_return(copy_bidirectional(client, server));
//     co_return {};
//   }
//
// When one stream ends, the copy shuts down writing of the other stream, and the other direction continues: its peer
// reads the end and may still answer. The copy returns when both directions have ended.
//
// Limits. At most 16 KB are read and not yet written in each direction (io/copy.hpp). A peer that never closes its side
// keeps both: give the copy a timeout_stream of each.
//
// Errors: the errors of both streams. If one direction fails, the copy cancels the other direction and returns the
// error.
//
// Cancellation. A cancelled or timed out copy loses the bytes that it has read and not yet written.
#pragma once
#include <hocket/coro/when_all.hpp>
#include <hocket/io/copy.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// A stream whose two directions end separately: a socket_stream, or a timeout_stream of one.
template <class S>
concept shutdown_stream = byte_stream<S> && requires(S& stream) {
  { stream.shutdown_write() } -> std::convertible_to<result<void>>;
};

// The counts of bytes in each direction.
struct copied_bytes {
  std::size_t to_second = 0;
  std::size_t to_first = 0;
};

namespace detail {

// not_connected is no error: a peer that has closed the connection needs no end of its stream.
template <class Source, class Sink>
task<result<std::size_t>> copy_and_shut_down(Source& source, Sink& sink) {
  result<std::size_t> copied = co_await copy(source, sink);
  if (!copied) co_return copied;
  const result<void> shut_down = sink.shutdown_write();
  if (!shut_down && shut_down.error() != std::errc::not_connected) co_return failure(shut_down.error());
  co_return copied;
}

}  // namespace detail

// Copies in both directions, until both streams have ended.
template <shutdown_stream First, shutdown_stream Second>
task<result<copied_bytes>> copy_bidirectional(First& first, Second& second) {
  auto both = co_await when_all(detail::copy_and_shut_down(first, second), detail::copy_and_shut_down(second, first));
  if (!both) co_return failure(both.error());
  const auto [to_second, to_first] = *both;
  co_return copied_bytes{to_second, to_first};
}

}}  // namespace hocket
