#include <hocket/base/seam/own_fds.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/unique_fd.hpp>
#include <io/platform/system_calls.hpp>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace {

used_fd use_fd(file_reference reference) noexcept { return {*reference.record, reference.generation}; }

template <class Call>
auto retry_interrupted(Call call) noexcept {
  auto rc = call();
  while (rc < 0 && errno == EINTR) rc = call();
  return rc;
}

result<void> call_result(int rc) noexcept {
  if (rc < 0) return failure_of_transfer(errno);
  return {};
}

constexpr std::size_t max_call_size = std::size_t{1} << 30;  // a call of the system moves less than 2 GiB

// Repeats the call until `size` bytes are moved, or a call moves none.
template <class Call>
result<std::size_t> move_all(std::size_t size, Call call) noexcept {
  std::size_t done = 0;
  while (done != size) {
    const ssize_t moved = retry_interrupted([&] { return call(done, std::min(size - done, max_call_size)); });
    if (moved < 0) return failure_of_transfer(errno);
    if (moved == 0) break;
    done += static_cast<std::size_t>(moved);
  }
  return done;
}

// -1 for an offset that off_t cannot express: the system then fails with EINVAL.
off_t position(std::uint64_t offset) noexcept {
  return offset > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) ? -1 : static_cast<off_t>(offset);
}

result<std::size_t> read_from(int fd, void* target, std::size_t size, std::uint64_t offset) noexcept {
  return move_all(size, [&](std::size_t done, std::size_t count) {
    return ::pread(fd, static_cast<std::byte*>(target) + done, count, position(offset + done));
  });
}

result<std::size_t> all_or_nothing(result<std::size_t> moved, std::size_t size) noexcept {
  if (moved && *moved != size) return failure_of_transfer(EIO);
  return moved;
}

result<std::size_t> write_to(int fd, const_buffer data, std::uint64_t offset) noexcept {
  const auto call = [&](std::size_t done, std::size_t count) {
    return ::pwrite(fd, data.data() + done, count, position(offset + done));
  };
  return all_or_nothing(move_all(data.size(), call), data.size());
}

// --- pipes and devices, which have no positions

// For a pipe, a terminal or another device. False for a socket: it is no file, and may have no end.
bool has_no_positions(const std::error_code& error, mode_t mode) noexcept {
  return error == std::errc::invalid_seek && (S_ISFIFO(mode) || S_ISCHR(mode));
}

// An adopted file may be non-blocking: then this thread polls for it. The system reports the end of a terminal as EIO.
ssize_t read_in_order(int fd, void* target, std::size_t size) noexcept {
  for (;;) {
    const ssize_t count = ::read(fd, target, size);
    const int error = errno;
    if (count >= 0) return count;
    if (error == EIO && system_calls::is_hung_up(fd)) return 0;
    pollfd ready{fd, POLLIN, 0};
    if (error == EAGAIN && ::poll(&ready, 1, -1) > 0) continue;
    errno = error;
    return count;
  }
}

ssize_t write_in_order(int fd, const void* data, std::size_t size) noexcept {
  const long written = system_calls::write_without_signal(fd, data, size);
  if (written >= 0) return static_cast<ssize_t>(written);
  errno = static_cast<int>(-written);
  return -1;
}

result<std::size_t> write_all_in_order(int fd, const_buffer data) noexcept {
  const auto call = [&](std::size_t done, std::size_t count) { return write_in_order(fd, data.data() + done, count); };
  return all_or_nothing(move_all(data.size(), call), data.size());
}

// --- whole files

// Reads a file from its beginning to its end.
class whole_file {
 public:
  whole_file(int fd, std::size_t limit) noexcept : fd_(fd), limit_(limit) {}

  // The size that the system reports is only the first size of the buffer: for files in /proc it is 0.
  result<std::string> read() {
    if (::fstat(fd_, &status_) != 0) return failure_of_transfer(errno);
    const auto size_hint = static_cast<std::size_t>(std::max<off_t>(status_.st_size, 0));
    if (S_ISREG(status_.st_mode) && size_hint > limit_) return failure_of_transfer(EFBIG);
    std::string text;
    std::size_t size = 0;
    do {
      text.resize(std::max({size_hint + 1, 2 * size, std::size_t{4096}}));
      const result<std::size_t> count = fill(text.data() + size, text.size() - size, size);
      if (!count) return failure(count.error());
      size += *count;
      if (size > limit_) return failure_of_transfer(EFBIG);
    } while (size == text.size());
    text.resize(size);
    return text;
  }

 private:
  result<std::size_t> fill(char* target, std::size_t size, std::size_t offset) noexcept {
    if (has_positions_) {
      const result<std::size_t> count = read_from(fd_, target, size, offset);
      if (count || !has_no_positions(count.error(), status_.st_mode)) return count;
      has_positions_ = false;
    }
    return fill_in_order(target, size, offset);
  }
  // The writer of a pipe may keep it open, so no read follows beyond the limit: it could block.
  result<std::size_t> fill_in_order(char* target, std::size_t size, std::size_t offset) noexcept {
    std::size_t done = 0;
    while (done != size && offset + done <= limit_) {
      const ssize_t count = retry_interrupted([&] { return read_in_order(fd_, target + done, size - done); });
      if (count < 0) return failure_of_transfer(errno);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  const int fd_;
  const std::size_t limit_;
  struct stat status_{};
  bool has_positions_ = true;
};

result<std::size_t> write_whole(int fd, const_buffer data) noexcept {
  struct stat status{};
  const result<std::size_t> written = write_to(fd, data, 0);
  if (written || ::fstat(fd, &status) != 0 || !has_no_positions(written.error(), status.st_mode)) return written;
  return write_all_in_order(fd, data);
}

// --- open

int flags_of(const file_options& options) noexcept {
  const bool writes = options.write || options.append;
  int flags = O_CLOEXEC | O_NOCTTY | (options.read ? (writes ? O_RDWR : O_RDONLY) : O_WRONLY);
  if (options.append) flags |= O_APPEND;
  if (options.create) flags |= O_CREAT;
  if (options.exclusive) flags |= O_EXCL;
  if (options.truncate) flags |= O_TRUNC;
  return flags;
}

bool are_valid(const std::string& path, const file_options& options) noexcept {
  const bool writes = options.write || options.append;
  return (options.read || writes) && (writes || !options.truncate) && (options.create || !options.exclusive) &&
         path.find('\0') == std::string::npos;
}

// Returns an fd, or a negative error number.
int open_fd(const std::string& path, const file_options& options) noexcept {
  if (!are_valid(path, options)) return -EINVAL;
  const int flags = flags_of(options);
  const int fd =
      own_fd(retry_interrupted([&] { return ::open(path.c_str(), flags, static_cast<mode_t>(options.permissions)); }));
  return fd < 0 ? -errno : fd;
}

}  // namespace

namespace detail {

result<file> open_file(const std::string& path, const file_options& options, blocking_pool* pool) {
  const int fd = open_fd(path, options);
  if (fd < 0) return failure_of_transfer(-fd);
  result<file> opened = file::adopt(fd, pool);
  if (!opened) ::close(fd);
  return opened;
}

result<std::size_t> read_file_at(file_reference reference, mutable_buffer buffer, std::uint64_t offset) noexcept {
  const used_fd used = use_fd(reference);
  if (!used.is_open()) return failure_of_transfer(EBADF);
  return read_from(*used, buffer.data(), buffer.size(), offset);
}

result<std::size_t> write_file_at(file_reference reference, const_buffer data, std::uint64_t offset) noexcept {
  const used_fd used = use_fd(reference);
  if (!used.is_open()) return failure_of_transfer(EBADF);
  return write_to(*used, data, offset);
}

result<std::size_t> append_to_file(file_reference reference, const_buffer data) noexcept {
  const used_fd used = use_fd(reference);
  const int flags = ::fcntl(*used, F_GETFL);
  if (flags < 0) return failure_of_transfer(errno);
  if ((flags & O_APPEND) == 0) return failure_of_transfer(EINVAL);
  return write_all_in_order(*used, data);
}

result<std::string> read_whole_file(file_reference reference, std::size_t limit) {
  const used_fd used = use_fd(reference);
  return whole_file(*used, limit).read();
}

result<std::uint64_t> size_of_file(file_reference reference) noexcept {
  const used_fd used = use_fd(reference);
  struct stat status{};
  if (::fstat(*used, &status) != 0) return failure_of_transfer(errno);
  return static_cast<std::uint64_t>(status.st_size);
}

result<void> resize_file(file_reference reference, std::uint64_t size) noexcept {
  const used_fd used = use_fd(reference);
  return call_result(retry_interrupted([&] { return ::ftruncate(*used, position(size)); }));
}

result<void> sync_file(file_reference reference, bool data_only) noexcept {
  const used_fd used = use_fd(reference);
  return call_result(retry_interrupted([&] { return data_only ? ::fdatasync(*used) : ::fsync(*used); }));
}

result<std::string> read_named_file(const std::string& path, std::size_t limit) {
  const int fd = open_fd(path, {});
  if (fd < 0) return failure_of_transfer(-fd);
  const unique_fd owner(fd);
  return whole_file(fd, limit).read();
}

result<std::size_t> write_named_file(const std::string& path, const_buffer data, unsigned permissions) {
  const int fd =
      open_fd(path, {.read = false, .write = true, .create = true, .truncate = true, .permissions = permissions});
  if (fd < 0) return failure_of_transfer(-fd);
  const result<std::size_t> written = write_whole(fd, data);
  if (::close(fd) != 0 && written && errno != EINTR) return failure_of_transfer(errno);
  return written;
}

}  // namespace detail

result<file> file::adopt(int fd, blocking_pool* pool) noexcept {
  if (::fcntl(fd, F_GETFD) < 0) return failure_of_transfer(errno);
  result<descriptor> owner = descriptor_access::take_over(fd, descriptor_kind::other);
  if (!owner) return failure(owner.error());
  return file(std::move(*owner), pool);
}

}}  // namespace hocket
