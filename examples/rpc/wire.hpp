// Frames on a stream: a header, then the number of bytes in it. Both ends run on one machine, so numbers have its byte
// order.
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace rpc {

struct header {
  std::uint64_t id;     // of the call; the reply has the same
  std::uint32_t what;   // a method, or 0
  std::uint32_t bytes;  // of the payload
};
inline constexpr std::uint32_t most_bytes = 1 << 20;

struct frame {
  std::uint64_t id = 0;
  std::uint32_t what = 0;
  std::string payload;
};

inline void append(std::string& to, const frame& one) {
  const header head{one.id, one.what, static_cast<std::uint32_t>(one.payload.size())};
  to.append(reinterpret_cast<const char*>(&head), sizeof head);
  to.append(one.payload);
}

inline std::error_code system_error() noexcept { return {errno, std::system_category()}; }

// Writes all bytes, or returns the error: broken_pipe if the other end has closed.
inline std::error_code write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done >= 0) bytes.remove_prefix(static_cast<std::size_t>(done));
    else if (errno != EINTR) return system_error();
  }
  return {};
}

// Reads frames from a stream, many with one system call.
class frame_reader {
 public:
  explicit frame_reader(int fd) noexcept : fd_(fd) {}

  // Reads one frame. connection_reset: the stream has ended; bad_message: an invalid frame; otherwise the system's
  // error.
  std::error_code read(frame& into) {
    header head{};
    if (std::error_code why = take(&head, sizeof head)) return why;
    if (head.bytes > most_bytes) return std::make_error_code(std::errc::bad_message);
    into.id = head.id;
    into.what = head.what;
    into.payload.resize(head.bytes);
    return take(into.payload.data(), head.bytes);
  }

 private:
  std::error_code take(void* to, std::size_t bytes) {
    while (end_ - begin_ < bytes)
      if (std::error_code why = fill(bytes)) return why;
    std::char_traits<char>::copy(static_cast<char*>(to), buffer_.data() + begin_, bytes);
    begin_ += bytes;
    return {};
  }
  std::error_code fill(std::size_t wanted) {
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
    buffer_.resize(end_ + (wanted > chunk ? wanted : chunk));
    ssize_t got = 0;
    do got = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    while (got < 0 && errno == EINTR);
    if (got == 0) return std::make_error_code(std::errc::connection_reset);
    if (got < 0) return system_error();
    end_ += static_cast<std::size_t>(got);
    return {};
  }

  static constexpr std::size_t chunk = 64 << 10;
  const int fd_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace rpc
