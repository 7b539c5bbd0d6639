// A stream of bytes over a descriptor: a pipe, a terminal, a connected socket.
//
//   task<result<void>> echo(hocket::stream peer) {
//     std::array<char, 512> buffer;
//     while (std::size_t n = co_await or_return(peer.read_some(buffer))) {          // 0: the peer has closed
//       co_await or_return(peer.write_all(std::span(buffer.data(), n)));
//     }
//     co_return {};
//   }
//
// Buffers are the caller's until the operation is over. What waiting means, errors, cancellation and threads:
// descriptor.hpp. A write whose peer has closed is broken_pipe or connection_reset, and never raises SIGPIPE.
//
// An operation that is cancelled or timed out after a part of its bytes was moved (read_exactly(), write_all()) fails,
// and the stream stands in the middle of what was meant. partial_read_size() and partial_write_size() tell how many bytes were
// moved. After such a write, and after a write that fails for want of memory, every further write gives
// errc::partial_write: the peer would take its bytes for the rest of the first one. Close the stream, or write that rest
// after resume_after_partial_write().
//
// Several buffers are read, or written, by one system call (scatter and gather):
//
//   const std::array<const_buffer, 2> parts{head, body};
//   co_await or_return(peer.write_all(parts));
//
// The list of buffers, too, is the caller's until the operation is over.
#pragma once
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/detail/borrow_operation.hpp>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

// Bytes in order, in both directions or one.
class stream : public descriptor {
  using reading = primitive::operation<detail::bytes_operation>;
  using writing = primitive::operation<detail::write_operation>;
  using call = detail::call_kind;

 public:
  stream() noexcept = default;
  // Takes a descriptor of bytes over.
  explicit stream(descriptor&& of) noexcept : descriptor(std::move(of)) {}
  static result<stream> adopt(int fd) noexcept;

  // At least one byte, as soon as there is one, at most as many as the buffer has room for; how many. 0: the end of the
  // stream. An empty buffer: 0, at once.
  reading read_some(mutable_buffer into, call_site at = this_call_site()) noexcept { return read(into, false, at); }
  reading read_some(std::span<const mutable_buffer> into, call_site at = this_call_site()) noexcept {
    return read(into, false, at);
  }
  // Fills the whole buffer, or all. Errors: the errors of a read, and end_of_stream.
  reading read_exactly(mutable_buffer into, call_site at = this_call_site()) noexcept { return read(into, true, at); }
  reading read_exactly(std::span<const mutable_buffer> into, call_site at = this_call_site()) noexcept {
    return read(into, true, at);
  }
  // At least one byte, at most 16 KB, in memory that is lent until the result is destroyed. Empty: the end of the
  // stream. While it waits it has no buffer. (If earlier bytes are still held then, a notice says so at check level
  // `debug`.)
  auto read_borrowed(call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::borrow_operation>(std::in_place, at, this->at(), false);
  }
  // The same, between two messages: while it waits, the connection is idle. If it belongs to a server that ends
  // (net/serve.hpp), it gives the end of the stream.
  auto read_idle(call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::borrow_operation>(std::in_place, at, this->at(), true);
  }

  // At least one byte, as soon as there is room; how many.
  writing write_some(const_buffer from, call_site at = this_call_site()) noexcept { return write(from, false, at); }
  writing write_some(std::span<const const_buffer> from, call_site at = this_call_site()) noexcept {
    return write(from, false, at);
  }
  // All of the buffer, or of all; how many bytes that is.
  writing write_all(const_buffer from, call_site at = this_call_site()) noexcept { return write(from, true, at); }
  writing write_all(std::span<const const_buffer> from, call_site at = this_call_site()) noexcept {
    return write(from, true, at);
  }

  // Of the last read_exactly(), or write_all(), that failed: how many bytes it moved.
  std::size_t partial_read_size() const noexcept { return at().in.part(); }
  std::size_t partial_write_size() const noexcept { return at().out.part(); }
  // Lets writes follow one that was cut short; how many bytes that one moved.
  std::size_t resume_after_partial_write() noexcept { return at().out.resume_after_partial(); }

 private:
  reading read(mutable_buffer into, bool whole, call_site site) noexcept {
    return reading(std::in_place, site, at().in, call::read, into.data(), into.size(), whole);
  }
  reading read(std::span<const mutable_buffer> into, bool whole, call_site site) noexcept {
    return reading(std::in_place, site, at().in, call::scatter, const_cast<mutable_buffer*>(into.data()),
                   detail::size_of_all(into), whole);
  }
  writing write(const_buffer from, bool whole, call_site site) noexcept {
    return writing(std::in_place, site, at().out, call::write, const_cast<std::byte*>(from.data()), from.size(), whole);
  }
  writing write(std::span<const const_buffer> from, bool whole, call_site site) noexcept {
    return writing(std::in_place, site, at().out, call::gather, const_cast<const_buffer*>(from.data()),
                   detail::size_of_all(from), whole);
  }
};

}}  // namespace hocket
