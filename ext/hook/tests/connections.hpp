// Connections for tests, and the four ways to end a fiber that waits at one.
#pragma once
#include "blocking.hpp"

#include <netinet/in.h>
#include <sys/un.h>

namespace hooked_tests {

// Resets a TCP connection now. The peer can still read what has arrived before.
inline void reset_connection(int fd) {
  const sockaddr nowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
  CHECK(::connect(fd, &nowhere, sizeof nowhere) == 0);
}

// A socket on 127.0.0.1.
class local_socket {
 public:
  explicit local_socket(int type = SOCK_STREAM) : fd_(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(fd_, address(), size) == 0);
    socklen_t length = size;
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address_), &length) == 0);
  }
  local_socket(const local_socket&) = delete;
  local_socket& operator=(const local_socket&) = delete;
  ~local_socket() { ::close(fd_); }

  static constexpr socklen_t size = sizeof(sockaddr_in);
  int fd() const { return fd_; }
  int port() const { return ntohs(address_.sin_port); }
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }

 private:
  const int fd_;
  sockaddr_in address_{};
};

class local_listener : public local_socket {
 public:
  explicit local_listener(int backlog = 16) { REQUIRE(::listen(fd(), backlog) == 0); }
};

// A listener whose queue is full: the system drops new connections, so a connect() waits.
class full_listener : public local_listener {
 public:
  full_listener() : local_listener(0) {
    for (int& client : clients_) {
      client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      static_cast<void>(::connect(client, address(), size));
    }
  }
  ~full_listener() {
    for (const int client : clients_) ::close(client);
  }

 private:
  std::array<int, 4> clients_{};
};

// Both ends of a TCP connection. Small buffers, so that it is soon full.
class connection_ends {
 public:
  connection_ends() {
    const local_listener listener;
    const int bytes = 4096;
    REQUIRE(::setsockopt(listener.fd(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0);
    client_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::setsockopt(client_, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) == 0);
    REQUIRE(::connect(client_, listener.address(), local_listener::size) == 0);
    server_ = ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(server_ >= 0);
  }
  connection_ends(const connection_ends&) = delete;
  connection_ends& operator=(const connection_ends&) = delete;
  ~connection_ends() {
    close_client();
    if (server_ >= 0) ::close(server_);
  }
  int client() const { return client_; }
  int server() const { return server_; }
  void close_client() {
    if (client_ >= 0) ::close(std::exchange(client_, -1));
  }
  int release_client() { return std::exchange(client_, -1); }
  void fill() const {
    static const std::array<char, 65536> bytes{};
    while (::send(client_, bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
    }
  }
  void answer() const { write_text(server_, "an answer of before"); }

 private:
  int client_ = -1;
  int server_ = -1;
};

enum class ending { cancel, kill, deadline, limit };
inline constexpr std::array endings{ending::cancel, ending::kill, ending::deadline, ending::limit};
constexpr const char* name_of(ending end) {
  switch (end) {
    case ending::cancel: return "cancel";
    case ending::kill: return "kill";
    case ending::deadline: return "deadline";
    case ending::limit: return "limit";
  }
  return "";
}
constexpr bool is_by_time(ending end) { return end == ending::deadline || end == ending::limit; }

// Runs body() in a hooked fiber, and ends the fiber when it waits; by a cancel or a kill after ready().
template <class F, class Ready = void (*)()>
void run_and_end(ending end, F body, Ready ready = [] {}) {
  bool over = false;
  loop lp;
  auto fiber = spawn(lp, {.within = end == ending::deadline ? duration(1ms) : duration::max()}, hook::hooked([&] {
                       if (end == ending::limit) {
                         const auto ended = hook::within(1ms, body);
                         CHECK((!ended && ended.error() == std::errc::timed_out));
                       } else {
                         body();
                       }
                       over = true;
                     }));
  if (!is_by_time(end))
    spawn(lp, [&] {
      ready();
      if (end == ending::kill) fiber.kill();
      else fiber.cancel();
    });
  lp.run();
  CHECK(over);
}

}  // namespace hooked_tests
