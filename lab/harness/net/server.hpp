#pragma once
// What the C++ servers of the page `net` share: how they are called, what they answer, and their first line of output.
//
// A server is called as `<program> <system> <mode> <workers>`. It listens on 127.0.0.1, prints its port, and serves
// until it gets SIGTERM. If the machine does not allow it, it prints "skip" and why. The modes:
//   http   answers each request, which is all bytes up to an empty line, with `response`. One write answers all
//   requests
//          that one read completes. A server that parses HTTP answers with the body "hello\n" in place of that.
//   echo   writes back what it reads
//   sink   reads, and drops what it reads
//   udp    sends each datagram back to its sender
// `workers` is the number of threads that serve; each system says whether they share one listener.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace lab::net {

enum class mode { http, echo, sink, udp };

struct orders {
  std::string_view system;
  mode does = mode::http;
  std::size_t workers = 1;
};

[[noreturn]] inline void fail(const char* why) {
  std::perror(why);
  std::exit(1);
}

inline int checked(int result, const char* why) {
  if (result < 0) fail(why);
  return result;
}

inline orders parse(int argc, char** argv) {
  constexpr std::array<std::string_view, 4> names{"http", "echo", "sink", "udp"};
  const std::size_t workers = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  for (std::size_t i = 0; workers && i < names.size(); ++i)
    if (argv[2] == names[i]) return {argv[1], static_cast<mode>(i), workers};
  std::fputs("usage: server <system> http|echo|sink|udp <workers>\n", stderr);
  std::exit(1);
}

// The server can be reached from now on.
inline void ready(unsigned port) {
  std::printf("%u\n", port);
  std::fflush(stdout);
}

constexpr std::string_view response = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
constexpr std::size_t request_room = 4096;   // of one connection's unanswered requests; more of them end it
constexpr std::size_t echo_room = 16384;     // of one read to be written back
constexpr std::size_t sink_room = 65536;     // of one read to be dropped
constexpr std::size_t datagram_room = 2048;  // of one datagram
constexpr std::size_t datagram_batch = 64;   // what one system call takes

// So many responses side by side.
inline std::string_view responses(std::size_t count) {
  static const std::string all = [] {
    std::string text;
    for (std::size_t i = 0; i < request_room / 4; ++i) text += response;
    return text;
  }();
  return std::string_view(all).substr(0, count * response.size());
}

struct requests {
  std::size_t count = 0;
  std::size_t bytes = 0;  // up to the end of the last one
};

// The requests that are complete in this text.
inline requests complete_in(std::string_view text) {
  requests found;
  for (std::size_t at = text.find("\r\n\r\n"); at != text.npos; at = text.find("\r\n\r\n", found.bytes)) {
    ++found.count;
    found.bytes = at + 4;
  }
  return found;
}

// The requests of a connection, between the reads.
class request_buffer {
 public:
  // Where to read to. Empty if a request is too long.
  std::span<char> room() { return std::span(bytes_).subspan(have_); }

  // What is to be written, after so many bytes were read.
  std::string_view answers(std::size_t read) {
    have_ += read;
    const requests found = complete_in({bytes_.data(), have_});
    have_ -= found.bytes;
    if (have_ && found.bytes) std::memmove(bytes_.data(), bytes_.data() + found.bytes, have_);
    return responses(found.count);
  }

 private:
  std::array<char, request_room> bytes_;
  std::size_t have_ = 0;
};

}  // namespace lab::net
