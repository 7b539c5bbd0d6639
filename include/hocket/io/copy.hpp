// copy: everything that a source gives, to a sink.
//
//   std::size_t bytes = co_await or_return(copy(client, server));       // until the client has closed its side
//   co_await or_return(server.shutdown_write());
//
// It reads no further than the sink takes: at most 16 KB are under way, so a slow sink slows the source down. While the
// source gives nothing there is no buffer, if it lends and is copied whole.
//
// Errors: of the source, or of the sink. A copy that is cancelled or timed out loses what it had read and not written.
#pragma once
#include <hocket/coro/detail/frame_allocator.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <algorithm>
#include <limits>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// At most so many bytes.
template <byte_source From, byte_sink To>
task<result<std::size_t>> copy(From& from, To& to, std::size_t most) {
  std::vector<char, detail::frame_allocator<char>> room(std::min(most, detail::lending::most_bytes));
  std::size_t copied = 0;
  while (copied != most) {
    result<std::size_t> got =
        co_await from.read_some(mutable_buffer(room.data(), std::min(room.size(), most - copied)));
    if (!got) co_return failure(got.error());
    if (*got == 0) break;
    result<std::size_t> put = co_await to.write_all(const_buffer(room.data(), *got));
    if (!put) co_return failure(put.error());
    copied += *put;
  }
  co_return copied;
}

template <byte_source From, byte_sink To>
  requires(!lending_source<From>)
task<result<std::size_t>> copy(From& from, To& to) {
  return copy(from, to, std::numeric_limits<std::size_t>::max());
}
template <lending_source From, byte_sink To>
task<result<std::size_t>> copy(From& from, To& to) {
  std::size_t copied = 0;
  for (;;) {
    result<borrowed_bytes> got = co_await from.read_borrowed();
    if (!got) co_return failure(got.error());
    if (got->empty()) co_return copied;
    result<std::size_t> put = co_await to.write_all(*got);
    if (!put) co_return failure(put.error());
    copied += *put;
  }
}

}}  // namespace hocket
