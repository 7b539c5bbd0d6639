// The floor of the page `net`: system calls around an epoll, as one would write them in C. No coroutine, no callback,
// no object of a connection: its number is all that is known of it.
//
// A connection is registered once, level-triggered, for reading. All of a thread's connections share one buffer. What
// a connection leaves behind, the beginning of a request or bytes that its socket had no room for, is rare, and lies in
// a map. Each thread has a listener and an epoll of its own.
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "raw_socket.hpp"

namespace {

using namespace lab::net;

class server {
 public:
  server(mode does, int door) : does_(does), door_(door), epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll")) {
    watch(EPOLL_CTL_ADD, door, EPOLLIN);
  }

  void run() {
    std::array<epoll_event, 256> events;
    for (;;) {
      const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      if (n < 0 && errno != EINTR) fail("epoll_wait");
      for (int i = 0; i < n; ++i) look(events[static_cast<std::size_t>(i)]);
    }
  }

 private:
  void watch(int how, int fd, unsigned for_what) {
    epoll_event event{};
    event.events = for_what;
    event.data.fd = fd;
    checked(epoll_ctl(epoll_, how, fd, &event), "epoll_ctl");
  }

  void look(const epoll_event& event) {
    const int fd = event.data.fd;
    if (fd == door_) accept_all();
    else if (event.events & EPOLLOUT) write_rest(fd);
    else read(fd);
  }

  void accept_all() {
    int fd;
    while ((fd = accept4(door_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
      send_at_once(fd);
      watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
    if (errno == EMFILE || errno == ENFILE) fail("accept");
  }

  void read(int fd) {
    const std::size_t kept = take_unanswered(fd);
    const ssize_t n = recv(fd, buffer_.data() + kept, room() - kept, 0);
    if (n > 0) answer(fd, {buffer_.data(), kept + static_cast<std::size_t>(n)});
    else if (n < 0 && errno == EAGAIN) keep_unanswered(fd, {buffer_.data(), kept});
    else end(fd);
  }

  std::size_t room() const { return does_ == mode::http ? request_room : does_ == mode::echo ? echo_room : sink_room; }

  void end(int fd) {
    left_.erase(fd);
    close(fd);
  }

  // Moves the beginning of a request, if there is one, to the beginning of the buffer.
  std::size_t take_unanswered(int fd) {
    if (left_.empty()) return 0;
    const auto at = left_.find(fd);
    if (at == left_.end()) return 0;
    const std::size_t size = at->second.unanswered.copy(buffer_.data(), buffer_.size());
    left_.erase(at);
    return size;
  }

  void keep_unanswered(int fd, std::string_view bytes) {
    if (!bytes.empty()) left_[fd].unanswered = bytes;
  }

  void answer(int fd, std::string_view text) {
    if (does_ == mode::sink) return;
    if (does_ == mode::echo) return write(fd, text);
    const requests found = complete_in(text);
    if (found.count == 0 && text.size() == request_room) return end(fd);
    keep_unanswered(fd, text.substr(found.bytes));
    if (found.count) write(fd, responses(found.count));
  }

  // A connection is not read from before what its socket had no room for is written.
  void write(int fd, std::string_view bytes) {
    const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n == static_cast<ssize_t>(bytes.size())) return;
    if (n < 0 && errno != EAGAIN) return end(fd);
    left_[fd].unwritten = bytes.substr(n < 0 ? 0 : static_cast<std::size_t>(n));
    watch(EPOLL_CTL_MOD, fd, EPOLLOUT);
  }

  void write_rest(int fd) {
    watch(EPOLL_CTL_MOD, fd, EPOLLIN);
    write(fd, std::exchange(left_[fd].unwritten, {}));
  }

  struct left {
    std::string unanswered, unwritten;
  };

  const mode does_;
  const int door_, epoll_;
  std::array<char, sink_room> buffer_;
  std::unordered_map<int, left> left_;
};

// Datagrams in batches: one system call waits for them, one sends them back.
void echo_datagrams(int door) {
  std::vector<std::array<char, datagram_room>> rooms(datagram_batch);
  std::vector<sockaddr_in> from(datagram_batch);
  std::vector<iovec> bytes(datagram_batch);
  std::vector<mmsghdr> batch(datagram_batch);
  for (;;) {
    for (std::size_t i = 0; i < datagram_batch; ++i) {
      bytes[i] = {rooms[i].data(), datagram_room};
      batch[i] = {};
      batch[i].msg_hdr = {&from[i], sizeof from[i], &bytes[i], 1, nullptr, 0, 0};
    }
    const int n = checked(recvmmsg(door, batch.data(), datagram_batch, MSG_WAITFORONE, nullptr), "recvmmsg");
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) bytes[i].iov_len = batch[i].msg_len;
    for (int sent = 0; sent != n;)
      sent += checked(sendmmsg(door, batch.data() + sent, static_cast<unsigned>(n - sent), 0), "sendmmsg");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const orders told = parse(argc, argv);
  const bool udp = told.does == mode::udp;
  std::vector<int> doors;
  for (std::size_t i = 0; i < told.workers; ++i)
    doors.push_back(bound_socket(udp ? SOCK_DGRAM : SOCK_STREAM | SOCK_NONBLOCK, i ? port_of(doors[0]) : 0));
  std::vector<std::thread> threads;
  for (const int door : doors) {
    threads.emplace_back([=] {
      if (!udp) std::make_unique<server>(told.does, door)->run();
      else echo_datagrams(door);
    });
  }
  ready(port_of(doors[0]));
  for (auto& thread : threads) thread.join();
}
