// Concepts of byte streams: a socket, a pipe, a stream in memory, or a type of your own that encrypts or compresses
// another stream. A template that takes a byte_stream works with all of them.
//
//   template <byte_stream S>
//   task<result<void>> greet(S& peer) {
//     co_await or_return(peer.write_all("hello\n"));
//     co_return {};
//   }
//
// Each member returns an awaitable: an operation, or a task. For results and errors see stream.hpp.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/io/buffer.hpp>
#include <cstdint>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

// An option of stream::write_all(): whether the write is the last one of a message.
//
//   co_await or_return(peer.write_all(head, write_mode::more_follows));
//   co_await or_return(send_file(peer, page.native_handle(), 0, size));      // head and file share their first segment
//
// Several buffers in memory need no mode: one write_all() takes them all.
enum class write_mode : std::uint8_t {
  complete,      // the bytes leave at once
  more_follows,  // another write or a send_file() follows at once. TCP may hold an incomplete segment back until then,
                 // for 200 ms at most (MSG_MORE). Other streams ignore it
};

namespace detail {
template <class A, class T>
concept gives_result = awaitable<A> && requires(A&& a) {
  { get_awaiter(std::forward<A>(a)).await_resume() } -> std::convertible_to<result<T>>;
};
}  // namespace detail

// read_some(buffer) reads at least one byte; 0 is the end.
template <class S>
concept byte_source = requires(S& source, mutable_buffer buffer) {
  { source.read_some(buffer) } -> detail::gives_result<std::size_t>;
};

// write_all(data) writes the whole buffer.
template <class S>
concept byte_sink = requires(S& sink, const_buffer data) {
  { sink.write_all(data) } -> detail::gives_result<std::size_t>;
};

// A sink whose write_all() also takes several buffers, and writes them by one system call if it can: hocket's streams,
// and timeout_stream.
template <class S>
concept gathering_sink = byte_sink<S> && requires(S& sink, std::span<const const_buffer> buffers) {
  { sink.write_all(buffers) } -> detail::gives_result<std::size_t>;
};

// A sink that collects small writes until flush(): buffered_writer. size() is the count of collected bytes.
template <class S>
concept collecting_sink = requires(S& sink, const_buffer data) {
  { sink.write(data) } -> detail::gives_result<void>;
  { sink.flush() } -> detail::gives_result<void>;
  { sink.size() } -> std::convertible_to<std::size_t>;
};

// A source and a sink.
template <class S>
concept byte_stream = byte_source<S> && byte_sink<S>;

// A source that lends memory: its reader has no buffer while it waits.
template <class S>
concept lending_source = byte_source<S> && requires(S& source) {
  { source.read_borrowed() } -> detail::gives_result<borrowed_bytes>;
};

}}  // namespace hocket
