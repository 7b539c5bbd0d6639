// A buffered writer: collects small writes, so that one system call carries many.
//
//   buffered_writer writer(peer);
//   writer.append("HTTP/1.1 200 OK\r\n");                  // into memory: never waits
//   writer.append("\r\n");
//   co_await or_return(writer.flush());
//
// The writer owns no memory after flush(). Its destruction drops bytes that were not flushed.
//
// Errors, cancellation. A flush() that fails or is ended drops its bytes. The sink may report how many bytes it has
// written (stream::partial_write_size()). If only a part was written, no further write is possible
// (errc::partial_write).
//
// Thread safety: one operation at a time. The sink outlives the writer.
#pragma once
#include <hocket/core/frame_memory.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// Writes to a sink through a buffer.
template <byte_sink S>
class buffered_writer {
 public:
  // write() flushes as soon as the buffer has `flush_size` bytes.
  explicit buffered_writer(S& sink, std::size_t flush_size = std::size_t{16} * 1024) noexcept
      : sink_(sink), flush_size_(flush_size) {}
  buffered_writer(const buffered_writer&) = delete;
  buffered_writer& operator=(const buffered_writer&) = delete;

  // The count of bytes that are not yet flushed.
  std::size_t size() const noexcept { return bytes_.size(); }

  // Throws std::bad_alloc.
  void append(const_buffer data) {
    const auto* const begin = reinterpret_cast<const char*>(data.data());
    bytes_.insert(bytes_.end(), begin, begin + data.size());
  }
  // Appends the bytes, and flushes if there are enough.
  task<result<void>> write(const_buffer data) {
    append(data);
    if (size() < flush_size_) co_return {};
    co_return co_await flush();
  }
  // Writes all bytes to the sink.
  task<result<void>> flush() {
    const storage bytes = std::exchange(bytes_, storage());
    if (bytes.empty()) co_return {};
    const result<std::size_t> written = co_await sink_.write_all(bytes);
    if (!written) co_return failure(written.error());
    co_return {};
  }

 private:
  using storage = std::vector<char, detail::frame_allocator<char>>;

  S& sink_;
  const std::size_t flush_size_;
  storage bytes_;
};

}}  // namespace hocket
