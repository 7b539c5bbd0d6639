// Collects small writes, so that one call of the system carries many.
//
//   buffered_writer writer(peer);
//   writer.append("HTTP/1.1 200 OK\r\n");                  // into memory: never waits
//   writer.append("\r\n");
//   co_await or_return(writer.flush());
//
// It owns no memory after flush(). Bytes that were not flushed are dropped with the writer.
//
// A flush() that fails, or is ended otherwise, keeps nothing: how far it came, the sink may tell
// (stream::partial_write_size()). After a part of them nothing further may be written (errc::partial_write).
//
// Thread safety: one operation at a time. The sink outlives the writer.
#pragma once
#include <hocket/coro/detail/frame_allocator.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

template <byte_sink S>
class buffered_writer {
 public:
  // write() flushes as soon as there are `enough` bytes.
  explicit buffered_writer(S& to, std::size_t enough = std::size_t{16} * 1024) noexcept : to_(to), enough_(enough) {}
  buffered_writer(const buffered_writer&) = delete;
  buffered_writer& operator=(const buffered_writer&) = delete;

  // How many bytes wait for flush().
  std::size_t size() const noexcept { return bytes_.size(); }

  // Throws std::bad_alloc.
  void append(const_buffer bytes) {
    const auto* const from = reinterpret_cast<const char*>(bytes.data());
    bytes_.insert(bytes_.end(), from, from + bytes.size());
  }
  // Appends, and flushes if there is enough.
  task<result<void>> write(const_buffer bytes) {
    append(bytes);
    if (size() < enough_) co_return {};
    co_return co_await flush();
  }
  task<result<void>> flush() {
    const storage all = std::exchange(bytes_, storage());
    if (all.empty()) co_return {};
    const result<std::size_t> written = co_await to_.write_all(all);
    if (!written) co_return failure(written.error());
    co_return {};
  }

 private:
  using storage = std::vector<char, detail::frame_allocator<char>>;

  S& to_;
  const std::size_t enough_;
  storage bytes_;
};

}}  // namespace hocket
