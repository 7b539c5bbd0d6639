#include <hocket/http/detail/file_sender.hpp>

#include <algorithm>
#include <cerrno>
#include <sys/uio.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace http::detail {

file_reader::file_reader(int fd, std::uint64_t offset, std::uint64_t size)
    : fd_(fd),
      offset_(offset),
      rest_(size),
      memory_(new std::byte[static_cast<std::size_t>(std::min<std::uint64_t>(size, max_block))]) {}

std::size_t file_reader::max_count() const noexcept {
  return static_cast<std::size_t>(std::min<std::uint64_t>(rest_, max_block));
}

void file_reader::advance(std::size_t count) noexcept {
  filled_ = count;
  offset_ += count;
  rest_ -= count;
}

// Returns false also at an unexpected end and after an error: read_blocking() reports it. Some file systems support no
// RWF_NOWAIT.
bool file_reader::try_read() noexcept {
  const iovec part{memory_.get(), max_count()};
  const ssize_t count = ::preadv2(fd_, &part, 1, static_cast<off_t>(offset_), RWF_NOWAIT);
  if (count <= 0) return false;
  advance(static_cast<std::size_t>(count));
  return true;
}

result<void> file_reader::read_blocking() noexcept {
  ssize_t count = 0;
  do count = ::pread(fd_, memory_.get(), max_count(), static_cast<off_t>(offset_));
  while (count < 0 && errno == EINTR);
  if (count < 0) return failure(std::error_code(errno, std::generic_category()));
  if (count == 0) return failure(std::make_error_code(std::errc::io_error));
  advance(static_cast<std::size_t>(count));
  return {};
}

}}}  // namespace hocket::http::detail
