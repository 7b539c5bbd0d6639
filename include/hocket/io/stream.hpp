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
// One system call reads or writes several buffers (scatter and gather):
//
//   const std::array<const_buffer, 2> parts{head, body};
//   co_await or_return(peer.write_all(parts));
//
// If another write follows at once, as a file behind its head, say so (byte_stream.hpp):
//
//   co_await or_return(peer.write_all(head, write_mode::more_follows));
//
// The caller keeps the buffers, and the list of buffers, valid until the operation is over. For waits, errors,
// cancellation and threads see descriptor.hpp. If the peer has closed, a write fails with broken_pipe or
// connection_reset, and never raises SIGPIPE.
//
// Partial transfers. If read_exactly() or write_all() is cancelled or timed out after it has moved a part of its bytes,
// it fails, and the stream is in the middle of a message. An operation that fails, whatever ends it, leaves the count
// of the bytes that it has moved in partial_read_size() or partial_write_size(): 0 if it has moved none. If several
// coroutines use one direction, let each operation write its count to a variable:
//
//   std::size_t moved;
//   if (!co_await peer.write_all(data, moved)) ...                       // the peer has got `moved` bytes
//
// After a partial write, also after a write that fails for lack of memory, every further write fails with
// errc::partial_write, because the peer would take its bytes for the rest of the first write. Close the stream, or
// write that rest after resume_after_partial_write().
#pragma once
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/detail/borrow_operation.hpp>
#include <hocket/io/detail/moded_write.hpp>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

// Bytes in order, in one direction or both.
class stream : public descriptor {
  using reading = primitive::operation<detail::bytes_operation>;
  using writing = primitive::operation<detail::write_operation>;
  using whole_read = detail::whole_operation<detail::bytes_operation>;
  using whole_write = detail::whole_operation<detail::write_operation>;
  using moded_writing = primitive::operation<detail::moded_write<whole_write>>;
  using whole_reading = primitive::operation<whole_read>;
  using whole_writing = primitive::operation<whole_write>;
  using counted_reading = primitive::operation<detail::counting_operation<whole_read>>;
  using counted_writing = primitive::operation<detail::counting_operation<whole_write>>;
  using call = detail::call_kind;

 public:
  stream() noexcept = default;
  // Takes ownership of a descriptor of bytes.
  explicit stream(descriptor&& owner) noexcept : descriptor(std::move(owner)) {}
  // Takes ownership of an fd, as descriptor::adopt().
  static result<stream> adopt(int fd) noexcept;

  // Reads at least one byte, as soon as there is one, and at most what fits into the buffers. Returns how many bytes.
  // 0: the end of the stream. An empty buffer: 0, at once.
  reading read_some(mutable_buffer buffer, call_site site = this_call_site()) noexcept {
    return read<reading>(buffer, false, site);
  }
  reading read_some(std::span<const mutable_buffer> buffers, call_site site = this_call_site()) noexcept {
    return read<reading>(buffers, false, site);
  }
  // Fills the whole buffer, or all buffers. Errors: the errors of a read, and end_of_stream.
  whole_reading read_exactly(mutable_buffer buffer, call_site site = this_call_site()) noexcept {
    return read<whole_reading>(buffer, true, site);
  }
  whole_reading read_exactly(std::span<const mutable_buffer> buffers, call_site site = this_call_site()) noexcept {
    return read<whole_reading>(buffers, true, site);
  }
  // Also write the count of the bytes to `moved`, which outlives the operation.
  template <std::same_as<std::size_t> Count>
  auto read_exactly(mutable_buffer buffer, Count& moved, call_site site = this_call_site()) noexcept {
    return counted_reading(std::in_place, site, moved, record().in, call::read, buffer.data(), buffer.size(), true);
  }
  template <std::same_as<std::size_t> Count>
  auto read_exactly(std::span<const mutable_buffer> buffers, Count& moved, call_site site = this_call_site()) noexcept {
    return counted_reading(std::in_place, site, moved, record().in, call::scatter,
                           const_cast<mutable_buffer*>(buffers.data()), detail::size_of_all(buffers), true);
  }
  // Reads at least one byte, at most 16 KB, into memory that is lent until the result is destroyed. An empty result is
  // the end of the stream. A waiting read has no buffer. (If earlier bytes are still held while a read waits, a log
  // message says so at check level `debug`.)
  auto read_borrowed(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::borrow_operation>(std::in_place, site, record(), false);
  }
  // Like read_borrowed(), between two messages: while it waits, the connection is idle. If the connection belongs to a
  // server that shuts down (net/serve.hpp), the read returns the end of the stream.
  auto read_idle(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::borrow_operation>(std::in_place, site, record(), true);
  }

  // Writes at least one byte, as soon as the stream takes one. Returns how many bytes it wrote.
  writing write_some(const_buffer data, call_site site = this_call_site()) noexcept {
    return write<writing>(data, false, site);
  }
  writing write_some(std::span<const const_buffer> buffers, call_site site = this_call_site()) noexcept {
    return write<writing>(buffers, false, site);
  }
  // Writes the whole buffer, or all buffers. Returns how many bytes that is.
  whole_writing write_all(const_buffer data, call_site site = this_call_site()) noexcept {
    return write<whole_writing>(data, true, site);
  }
  whole_writing write_all(std::span<const const_buffer> buffers, call_site site = this_call_site()) noexcept {
    return write<whole_writing>(buffers, true, site);
  }
  // The same, with a mode (byte_stream.hpp).
  moded_writing write_all(const_buffer data, write_mode mode, call_site site = this_call_site()) noexcept {
    return moded_writing(std::in_place, site, mode, record().out, call::write, const_cast<std::byte*>(data.data()),
                         data.size(), true);
  }
  moded_writing write_all(std::span<const const_buffer> buffers, write_mode mode,
                          call_site site = this_call_site()) noexcept {
    return moded_writing(std::in_place, site, mode, record().out, call::gather,
                         const_cast<const_buffer*>(buffers.data()), detail::size_of_all(buffers), true);
  }
  // Also write the count of the bytes to `moved`, which outlives the operation.
  template <std::same_as<std::size_t> Count>
  auto write_all(const_buffer data, Count& moved, call_site site = this_call_site()) noexcept {
    return counted_writing(std::in_place, site, moved, record().out, call::write, const_cast<std::byte*>(data.data()),
                           data.size(), true);
  }
  template <std::same_as<std::size_t> Count>
  auto write_all(std::span<const const_buffer> buffers, Count& moved, call_site site = this_call_site()) noexcept {
    return counted_writing(std::in_place, site, moved, record().out, call::gather,
                           const_cast<const_buffer*>(buffers.data()), detail::size_of_all(buffers), true);
  }

  // How many bytes the last read, or write, has moved that failed. A write that fails with errc::partial_write leaves
  // the count as it is. After an operation that succeeds the count is unspecified.
  std::size_t partial_read_size() const noexcept { return record().failed_read_size(); }
  std::size_t partial_write_size() const noexcept { return record().failed_write_size(); }
  // Permits writes after a partial write. Returns how many bytes the partial write has moved; if there is none,
  // partial_write_size().
  std::size_t resume_after_partial_write() noexcept { return record().resume_after_partial_write(); }

 private:
  template <class Reading>
  Reading read(mutable_buffer buffer, bool whole, call_site site) noexcept {
    return Reading(std::in_place, site, record().in, call::read, buffer.data(), buffer.size(), whole);
  }
  template <class Reading>
  Reading read(std::span<const mutable_buffer> buffers, bool whole, call_site site) noexcept {
    return Reading(std::in_place, site, record().in, call::scatter, const_cast<mutable_buffer*>(buffers.data()),
                   detail::size_of_all(buffers), whole);
  }
  template <class Writing>
  Writing write(const_buffer data, bool whole, call_site site) noexcept {
    return Writing(std::in_place, site, record().out, call::write, const_cast<std::byte*>(data.data()), data.size(),
                   whole);
  }
  template <class Writing>
  Writing write(std::span<const const_buffer> buffers, bool whole, call_site site) noexcept {
    return Writing(std::in_place, site, record().out, call::gather, const_cast<const_buffer*>(buffers.data()),
                   detail::size_of_all(buffers), whole);
  }
};

}}  // namespace hocket
