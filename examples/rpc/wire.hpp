// Frames on a stream: a header, then as many bytes as it says. Both ends run on one machine, so numbers are as they are.
#pragma once
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/socket.h>
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

// All of it, or false: the other end is gone.
inline bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

// Reads frames out of a stream, many with one call of the system.
class frame_reader {
 public:
  explicit frame_reader(int fd) noexcept : fd_(fd) {}

  // False: the stream has ended, or holds what is no frame.
  bool read(frame& into) {
    header head{};
    if (!take(&head, sizeof head) || head.bytes > most_bytes) return false;
    into.id = head.id;
    into.what = head.what;
    into.payload.resize(head.bytes);
    return take(into.payload.data(), head.bytes);
  }

 private:
  bool take(void* to, std::size_t bytes) {
    while (end_ - begin_ < bytes)
      if (!fill(bytes)) return false;
    std::char_traits<char>::copy(static_cast<char*>(to), buffer_.data() + begin_, bytes);
    begin_ += bytes;
    return true;
  }
  bool fill(std::size_t wanted) {
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
    buffer_.resize(end_ + (wanted > chunk ? wanted : chunk));
    ssize_t got = 0;
    do got = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    while (got < 0 && errno == EINTR);
    if (got <= 0) return false;
    end_ += static_cast<std::size_t>(got);
    return true;
  }

  static constexpr std::size_t chunk = 64 << 10;
  const int fd_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace rpc
