// What can be read, or written, as a stream of bytes: a socket, a pipe, a stream in memory, or a type of your own that
// encrypts or compresses what another one carries. Code that takes one as a template works with all of them.
//
//   template <byte_stream S>
//   task<result<void>> greet(S& peer) {
//     co_await or_return(peer.write_all("hello\n"));
//     co_return {};
//   }
//
// Each member gives something to await: an operation, or a task. What it gives and when it fails: stream.hpp.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/io/borrowed_bytes.hpp>
#include <hocket/io/buffer.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
template <class A, class T>
concept gives_result = awaitable<A> && requires(A&& a) {
  { get_awaiter(std::forward<A>(a)).await_resume() } -> std::convertible_to<result<T>>;
};
}  // namespace detail

// read_some(buffer): at least one byte; 0 is the end.
template <class S>
concept byte_source = requires(S& from, mutable_buffer into) {
  { from.read_some(into) } -> detail::gives_result<std::size_t>;
};

// write_all(buffer): all of it.
template <class S>
concept byte_sink = requires(S& to, const_buffer bytes) {
  { to.write_all(bytes) } -> detail::gives_result<std::size_t>;
};

template <class S>
concept byte_stream = byte_source<S> && byte_sink<S>;

// A source that lends: it needs no buffer of its reader while it waits.
template <class S>
concept lending_source = byte_source<S> && requires(S& from) {
  { from.read_borrowed() } -> detail::gives_result<borrowed_bytes>;
};

}}  // namespace hocket
