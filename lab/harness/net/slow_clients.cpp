#include "net/slow_clients.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "net/marks.hpp"
#include "net/sockets.hpp"

namespace lab::net {

namespace {

constexpr std::uint64_t step_ns = 100'000'000;  // between two bytes of a client
constexpr int small_buffer = 4096;              // bytes, of a client's socket each way
constexpr std::uint64_t full_after_ns = 300'000'000, longest_fill_ns = 8'000'000'000;
constexpr std::size_t connects_at_once = 16;
constexpr std::string_view unended_head = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
constexpr std::string_view long_body = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n";

// Requests whose answers fill the buffers between server and client.
std::string_view many_requests() {
  static const std::string requests = [] {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    return text;
  }();
  return requests;
}

bool has_failed(ssize_t n) { return n < 0 && errno != EAGAIN && errno != EINPROGRESS && errno != ENOTCONN; }

bool send_text(int fd, std::string_view text) { return !has_failed(send(fd, text.data(), text.size(), MSG_NOSIGNAL)); }

// Sends what the socket takes of the requests that follow the first `sent` bytes. Returns whether it took any.
bool send_requests(int fd, std::size_t& sent) {
  const std::string_view rest = many_requests().substr(sent);
  const ssize_t n = send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
  if (n > 0) sent = (sent + static_cast<std::size_t>(n)) % many_requests().size();
  return n > 0;
}

// Returns whether the connection is still open.
bool receive_at_most(int fd, std::size_t size) {
  std::array<char, 4096> bytes;
  const ssize_t n = recv(fd, bytes.data(), size, 0);
  return n != 0 && !has_failed(n);
}

}  // namespace

slow_clients::slow_clients(std::size_t count, unsigned port)
    : port_(port), all_(count), period_ns_(step_ns / (count ? count : 1)) {
  for (std::size_t i = 0; i < count; ++i) all_[i].is_slow_in = static_cast<phase>(i % 4);
}

slow_clients::~slow_clients() {
  for (const client& client : all_)
    if (client.fd >= 0) close(client.fd);
}

void slow_clients::connect(client& client) {
  client.fd = client_socket(SOCK_STREAM | SOCK_NONBLOCK, static_cast<std::size_t>(&client - all_.data()));
  for (const int option : {SO_SNDBUF, SO_RCVBUF})
    checked(setsockopt(client.fd, SOL_SOCKET, option, &small_buffer, sizeof small_buffer), "buffer of a socket");
  connect_to(client.fd, port_);
  client.sent = 0;
  // On loopback the connection is there at once. If the listener's queue is full, the first bytes are sent too late,
  // and the server waits for the first one.
  if (client.is_slow_in == phase::head) send_text(client.fd, unended_head);
  if (client.is_slow_in == phase::body) send_text(client.fd, long_body);
}

void slow_clients::connect_all() {
  for (client& client : all_) {
    connect(client);
    if (static_cast<std::size_t>(&client - all_.data()) % connects_at_once == 0) usleep(1000);
  }
  fill_buffers();
}

// Until the server does not read further requests, because its answers are not read.
void slow_clients::fill_buffers() {
  for (std::uint64_t now = now_ns(), last = now, end = now + longest_fill_ns; now - last < full_after_ns && now < end;
       now = now_ns())
    for (client& client : all_)
      if (client.is_slow_in == phase::answer && send_requests(client.fd, client.sent)) last = now;
}

// Returns false if the server has closed the connection.
bool slow_clients::is_open_after_step(client& client) {
  switch (client.is_slow_in) {
    case phase::first_byte: return receive_at_most(client.fd, 4096);
    case phase::head:
    case phase::body: return send_text(client.fd, "a") && receive_at_most(client.fd, 4096);
    case phase::answer: return receive_at_most(client.fd, 1);
  }
  return true;
}

void slow_clients::advance(std::uint64_t now) {
  if (due_ns_ == 0) due_ns_ = now;
  for (; due_ns_ <= now; due_ns_ += period_ns_) {
    client& client = all_[next_++ % all_.size()];
    if (is_open_after_step(client)) continue;
    ++closed_;
    close(client.fd);
    connect(client);
  }
}

}  // namespace lab::net
