// Sends a range of a regular file to a sink.
//
// A sink is served by a worker, which must not wait for a disk. So bytes in the system's cache are read at once
// (preadv2(2) with RWF_NOWAIT). All other bytes are read on a thread of a blocking pool before they are sent: a slow
// disk delays only the connections that need the disk.
//
// Errors. The errors of pread(2), of blocking() and of the sink; io_error if the file has become shorter than the
// range. After an error a part may have been sent.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/runtime/blocking.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

// Reads a range of a file in blocks. Each block replaces the one before it.
class file_reader {
 public:
  static constexpr std::size_t max_block = std::size_t{64} * 1024;

  // The fd stays open during the reader's life. Throws std::bad_alloc.
  file_reader(int fd, std::uint64_t offset, std::uint64_t size);

  bool is_at_end() const noexcept { return rest_ == 0; }
  // Reads the part of the next block that is in the cache. False: its first byte is not in the cache, or cannot be
  // read. Then call read_blocking(), which returns the error.
  bool try_read() noexcept;
  // Reads the next block. Blocks the calling thread until the disk has answered.
  result<void> read_blocking() noexcept;
  const_buffer block() const noexcept { return {memory_.get(), filled_}; }

 private:
  std::size_t max_count() const noexcept;
  void advance(std::size_t count) noexcept;

  const int fd_;
  std::uint64_t offset_;
  std::uint64_t rest_;
  std::size_t filled_ = 0;
  std::unique_ptr<std::byte[]> memory_;
};

// The pool of the options, or else the pool of the process, which is made at its first use.
inline blocking_pool& pool_or_default(blocking_pool* pool) { return pool ? *pool : blocking_pool::process_pool(); }

// The fd stays open, and the pool exists, until the task ends. Null: the pool of the process. A cancel ends the wait
// for the sink; a read that has begun is waited for.
template <byte_sink Sink>
task<result<void>> send_file_part(Sink& sink, int fd, std::uint64_t offset, std::uint64_t size, blocking_pool* pool) {
  file_reader reader(fd, offset, size);
  while (!reader.is_at_end()) {
    if (!reader.try_read()) {
      auto reading = blocking(pool_or_default(pool), &file_reader::read_blocking, std::ref(reader));
      co_await or_return(std::move(reading));
    }
    auto writing = sink.write_all(reader.block());
    co_await or_return(std::move(writing));
  }
  co_return {};
}

}}}  // namespace hocket::http::detail
