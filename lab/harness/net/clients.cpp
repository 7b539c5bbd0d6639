#include "net/clients.hpp"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "net/marks.hpp"
#include "net/server.hpp"
#include "net/slow_clients.hpp"
#include "net/sockets.hpp"

namespace lab::net {

namespace {

constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
constexpr std::uint64_t lost_after = 100'000'000;  // ns
constexpr std::size_t unaccepted = 256;            // connections; a listener would drop some of a larger number
constexpr std::size_t kept_descriptors = 64;       // for other files than connections

bool is_paced(kind does) { return does == kind::paced || does == kind::beside; }

bool speaks_http(kind does) {
  return does == kind::http || does == kind::churn || does == kind::idle || is_paced(does);
}

std::size_t requests_of_one_write(const load& load) { return is_paced(load.does) ? 1 : load.size; }

// The requested number, or the number that the limit of descriptors allows.
std::size_t possible(std::size_t wanted) {
  rlimit limit{};
  checked(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  checked(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
  return std::min(wanted, static_cast<std::size_t>(limit.rlim_cur) - kept_descriptors);
}

// The size of a response, known from its head on: by its Content-Length, which may be absent. 0: the head is
// incomplete.
std::size_t response_size(std::string text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == text.npos) return 0;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view name = "\r\ncontent-length:";
  const std::size_t field = text.find(name);
  const std::size_t body = field < end ? std::strtoull(text.c_str() + field + name.size(), nullptr, 10) : 0;
  return end + 4 + body;
}

}  // namespace

clients::clients(const load& load)
    : load_(load), epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll")), all_(possible(load.connections)) {
  if (!speaks_http(load.does)) {
    payload_.assign(load.size, 'x');
    expected_ = load.size;
    return;
  }
  for (std::size_t i = 0; i < requests_of_one_write(load); ++i) payload_ += request;
  if (!is_paced(load_.does)) return;
  period_ns_ = std::max<std::uint64_t>(1'000'000'000 / load.size, 1);
  prctl(PR_SET_TIMERSLACK, 1UL);  // or the kernel rounds each wait up by 50 us
}

clients::~clients() {
  for (const client& one : all_)
    if (one.fd >= 0) close(one.fd);
  close(epoll_);
}

// By a connection that is closed again.
void clients::learn_response() {
  const int fd = client_socket(SOCK_STREAM, 0);
  connect_to(fd, load_.port);
  if (write(fd, request.data(), request.size()) != static_cast<ssize_t>(request.size())) fail("write");
  std::string said;
  for (std::size_t size = 0; size == 0 || said.size() < size; size = response_size(said)) {
    const ssize_t n = checked(static_cast<int>(read(fd, room_.data(), room_.size())), "read");
    if (n == 0) fail("the server closed the connection");
    said.append(room_.data(), static_cast<std::size_t>(n));
  }
  close(fd);
  if (!said.starts_with("HTTP/1.1 200")) fail("not the response that was expected");
  expected_ = said.size() * requests_of_one_write(load_);
}

void clients::watch(int how, client& one, unsigned for_what) {
  epoll_event event{};
  event.events = for_what;
  event.data.u64 = static_cast<std::uint64_t>(&one - all_.data());
  checked(epoll_ctl(epoll_, how, one.fd, &event), "epoll_ctl");
}

void clients::connect(client& one) {
  one.fd = client_socket((is_datagram() ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, connects_++);
  connect_to(one.fd, load_.port);
  watch(EPOLL_CTL_ADD, one, EPOLLIN);
}

void clients::connect_all() {
  if (speaks_http(load_.does)) learn_response();
  unanswered_ = all_.size();
  if (load_.does == kind::churn) return;
  for (client& one : all_) {
    connect(one);
    const std::size_t number = static_cast<std::size_t>(&one - all_.data()) + 1;
    if (speaks_http(load_.does) && (number == all_.size() || number % unaccepted == 0)) ask(one);
  }
}

// Called once. A server accepts in order, so its answer shows that it has accepted all earlier connections.
void clients::ask(client& one) {
  once_ = true;
  send(one);
  while (!one.answered) turn(100);
  once_ = false;
}

void clients::begin() {
  if (is_paced(load_.does)) {
    idle_.clear();
    for (client& client : all_) idle_.push_back(&client);
    next_ns_ = now_ns();
    return;
  }
  for (client& one : all_) {
    if (load_.does == kind::churn) {
      one.began = now_ns();
      connect(one);
    }
    if (load_.does == kind::sink) watch(EPOLL_CTL_MOD, one, EPOLLOUT);
    else send(one);
  }
}

void clients::run_until(std::uint64_t deadline) {
  if (is_paced(load_.does)) {
    for (std::uint64_t now = now_ns(); now < deadline; now = now_ns()) {
      plan(now);
      if (slow_) slow_->advance(now);
      turn(static_cast<std::int64_t>(std::min(next_ns_, deadline)) - static_cast<std::int64_t>(now_ns()));
    }
    return;
  }
  while (now_ns() < deadline || (unanswered_ && load_.does != kind::sink)) turn(50);
}

void clients::run_once() {
  once_ = true;
  while (unanswered_) turn(100);
}

void clients::drain() {
  while (is_paced(load_.does) && (!planned_.empty() || idle_.size() != all_.size())) turn(100);
}

// Plans the requests that are due, and has idle clients send them.
void clients::plan(std::uint64_t now) {
  for (; next_ns_ <= now; next_ns_ += period_ns_) planned_.push_back(next_ns_);
  send_planned();
}

void clients::send_planned() {
  for (; !planned_.empty() && !idle_.empty(); planned_.pop_front(), idle_.pop_front()) {
    idle_.front()->began = planned_.front();
    send(*idle_.front());
  }
}

void clients::turn(std::int64_t timeout_ns) {
  std::array<epoll_event, 512> events;
  const std::int64_t ns = std::max<std::int64_t>(timeout_ns, 0);
  const timespec timeout{static_cast<std::time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  const int n = epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  for (int i = 0; i < n; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    client& one = all_[event.data.u64];
    if (load_.does == kind::sink) send_endlessly(one);
    else if (event.events & EPOLLOUT) send(one);
    else receive(one);
  }
  if (is_datagram() && n == 0) send_lost_again();
}

// Sends the rest of this client's bytes, as far as the socket has space.
void clients::send(client& one) {
  if (one.sent == 0 && load_.does != kind::churn && !is_paced(load_.does)) one.began = now_ns();
  const ssize_t n = ::send(one.fd, payload_.data() + one.sent, payload_.size() - one.sent, MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN && errno != ENOTCONN) fail("send");
  if (n > 0) one.sent += static_cast<std::size_t>(n);
  const bool waits = one.sent != payload_.size();
  if (waits != one.waits_for_room) watch(EPOLL_CTL_MOD, one, waits ? EPOLLOUT : EPOLLIN);
  one.waits_for_room = waits;
}

void clients::send_endlessly(client& one) {
  const ssize_t n = ::send(one.fd, payload_.data(), payload_.size(), MSG_NOSIGNAL);
  if (n < 0 && errno != EAGAIN) fail("send");
  if (n <= 0) return;
  ++outcome_.requests;
  outcome_.bytes += static_cast<std::size_t>(n);
}

void clients::receive(client& one) {
  const ssize_t n = recv(one.fd, room_.data(), room_.size(), 0);
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) fail("the server closed a connection");
  outcome_.bytes += static_cast<std::size_t>(n);
  one.received += static_cast<std::size_t>(n);
  if (one.received > expected_) {
    std::fputs("an answer is longer than it should be\n", stderr);
    std::exit(1);
  }
  if (one.received == expected_) complete(one);
}

void clients::complete(client& one) {
  const std::uint64_t now = now_ns();
  outcome_.took.note(now - one.began);
  outcome_.requests += speaks_http(load_.does) ? requests_of_one_write(load_) : 1;
  one.sent = one.received = 0;
  if (!one.answered) --unanswered_;
  one.answered = true;
  if (once_) return;
  if (is_paced(load_.does)) {
    idle_.push_back(&one);
    return send_planned();
  }
  if (load_.does == kind::churn) {
    close(one.fd);
    one.began = now;
    connect(one);
  }
  send(one);
}

void clients::send_lost_again() {
  const std::uint64_t now = now_ns();
  for (client& one : all_) {
    if (now - one.began < lost_after) continue;
    ++outcome_.lost;
    one.sent = one.received = 0;
    send(one);
  }
}

}  // namespace lab::net
