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
// and the stream stands in the middle of what was meant. read_in_part() and written_in_part() tell how many bytes were
// moved.
#pragma once
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>

namespace hocket::inline HOCKET_ABI {

// Bytes in order, in both directions or one.
class stream : public descriptor {
 public:
  stream() noexcept = default;
  // Takes a descriptor of bytes over.
  explicit stream(descriptor&& of) noexcept : descriptor(std::move(of)) {}
  static result<stream> adopt(int number) noexcept;

  // At least one byte, as soon as there is one, at most as many as the buffer has room for; how many. 0: the end of the
  // stream. An empty buffer: 0, at once.
  auto read_some(mutable_buffer into, call_site at = this_call_site()) noexcept {
    return bytes(this->at().in, detail::call_kind::read, into.data(), into.size(), false, at);
  }
  // Fills the whole buffer. Errors: the errors of a read, and end_of_stream.
  auto read_exactly(mutable_buffer into, call_site at = this_call_site()) noexcept {
    return bytes(this->at().in, detail::call_kind::read, into.data(), into.size(), true, at);
  }
  // At least one byte, as soon as there is room; how many.
  auto write_some(const_buffer from, call_site at = this_call_site()) noexcept {
    return bytes(this->at().out, detail::call_kind::write, const_cast<std::byte*>(from.data()), from.size(), false, at);
  }
  // All of the buffer; how many bytes that is.
  auto write_all(const_buffer from, call_site at = this_call_site()) noexcept {
    return bytes(this->at().out, detail::call_kind::write, const_cast<std::byte*>(from.data()), from.size(), true, at);
  }

  // Of the last read_exactly(), or write_all(), that failed: how many bytes it moved.
  std::size_t read_in_part() const noexcept { return at().in.part(); }
  std::size_t written_in_part() const noexcept { return at().out.part(); }

 private:
  static primitive::operation<detail::bytes_operation> bytes(detail::direction& side, detail::call_kind kind,
                                                             void* data, std::size_t size, bool whole,
                                                             call_site at) noexcept {
    return primitive::operation<detail::bytes_operation>(std::in_place, at, side, kind, data, size, whole);
  }
};

}  // namespace hocket::inline HOCKET_ABI
