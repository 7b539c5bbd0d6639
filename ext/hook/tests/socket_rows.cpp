// Rows of the table "thread against fiber": sockets.
#include "thread_and_fiber.hpp"

#include <atomic>
#include <csignal>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <thread>
#include <vector>

namespace hooked_tests {

namespace {

constexpr auto stream_ends = two_ends::kind::stream;
constexpr auto datagram_ends = two_ends::kind::datagram;
constexpr auto pipe_ends = two_ends::kind::pipe;

int closed_number() { return 900; }

// Two ends with something to read.
struct filled_ends : two_ends {
  explicit filled_ends(kind which = stream_ends, std::string_view text = "abcdef") : two_ends(which) {
    write_text(out(), text);
  }
};

// A thread beside the caller, which acts while the caller waits, or before.
template <class F>
class beside {
 public:
  explicit beside(F f) : thread_(std::move(f)) {}
  ~beside() { thread_.join(); }

 private:
  std::thread thread_;
};
template <class F>
beside(F) -> beside<F>;

void set_limit(int fd, int option, long microseconds) {
  const timeval limit{0, microseconds};
  REQUIRE(::setsockopt(fd, SOL_SOCKET, option, &limit, sizeof limit) == 0);
}

struct text_buffer {
  std::array<char, 16> bytes{};
  char* data() { return bytes.data(); }
  std::string text() const { return {bytes.begin(), bytes.end()}; }
};

observation receive(int fd, std::size_t size, int flags) {
  text_buffer buffer;
  return measure([&] { return ::recv(fd, buffer.data(), size, flags); }, [&] { return buffer.text(); });
}

// A message in two buffers, with its flags and the lengths of its name and control data.
observation receive_message(int fd, std::size_t size, int flags) {
  text_buffer first, second;
  std::array<iovec, 2> parts{iovec{first.data(), 2}, {second.data(), size - 2}};
  alignas(cmsghdr) std::array<char, 64> control{};
  sockaddr_storage name{};
  msghdr message{};
  message.msg_name = &name;
  message.msg_namelen = sizeof name;
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  return measure([&] { return ::recvmsg(fd, &message, flags); },
                 [&] {
                   return first.text() + second.text() + std::to_string(message.msg_flags) + " " +
                          std::to_string(message.msg_controllen) + " " + std::to_string(message.msg_namelen);
                 });
}

template <class Send>
observation send_descriptors(Send send) {
  two_ends ends(stream_ends), passed(pipe_ends);
  std::vector<char> bytes(3'000'000, 'x');
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = passed.in();
  std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  int descriptors = 0;
  observation observed;
  {
    const beside reader([&] {
      std::vector<char> incoming_bytes(1'000'000);
      for (std::size_t count = 0; count < bytes.size();) {
        alignas(cmsghdr) std::array<char, 256> ancillary{};
        iovec into{incoming_bytes.data(), incoming_bytes.size()};
        msghdr incoming{};
        incoming.msg_iov = &into;
        incoming.msg_iovlen = 1;
        incoming.msg_control = ancillary.data();
        incoming.msg_controllen = ancillary.size();
        const ssize_t size = ::recvmsg(ends.in(), &incoming, MSG_CMSG_CLOEXEC);
        if (size <= 0) break;
        count += static_cast<std::size_t>(size);
        for (cmsghdr* header = CMSG_FIRSTHDR(&incoming); header; header = CMSG_NXTHDR(&incoming, header)) {
          const std::size_t each = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
          for (std::size_t i = 0; i < each; ++i) {
            int number = -1;
            std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
            ::close(number);
            ++descriptors;
          }
        }
      }
    });
    observed = measure([&] { return send(ends.out(), message); });
  }
  observed.output = std::to_string(descriptors) + " descriptors";
  return observed;
}

// A stream whose peer goes after a part was sent.
template <class Send>
observation send_to_leaving_peer(Send send) {
  static std::atomic<int> signals{0};
  signals = 0;
  const auto before = std::signal(SIGPIPE, [](int) { ++signals; });
  two_ends ends(stream_ends);
  std::vector<char> bytes(4'000'000, 'x');
  observation observed;
  {
    const beside peer([&] {
      pollfd pfd{ends.out(), POLLOUT, 0};
      while (::poll(&pfd, 1, 0) != 0) std::this_thread::yield();  // until the sender waits for room
      ends.close_in();
    });
    observed = measure([&] { return send(ends.out(), bytes.data(), bytes.size()); });
  }
  const bool has_sent_part = observed.result > 0 && observed.result < static_cast<long>(bytes.size());
  std::signal(SIGPIPE, before);
  observed.result = has_sent_part;  // how much fits depends on the moment
  observed.output = std::to_string(signals) + " signals";
  return observed;
}

template <class Send>
observation send_to_closed(Send send) {
  static std::atomic<int> signals{0};
  signals = 0;
  const auto before = std::signal(SIGPIPE, [](int) { ++signals; });
  two_ends ends(stream_ends);
  ends.close_in();
  char byte = 'x';
  observation observed = measure([&] { return send(ends.out(), &byte, 1); });
  std::signal(SIGPIPE, before);
  observed.output = std::to_string(signals) + " signals";
  return observed;
}

observation with_nonblocking(observation (*run)(int fd)) {
  two_ends ends(stream_ends);
  REQUIRE(::fcntl(ends.in(), F_SETFL, O_NONBLOCK) == 0);
  return run(ends.in());
}

template <class Call>
observation batch_outcome(Call call, std::size_t count = 2) {
  std::array<text_buffer, 2> buffers;
  std::array<iovec, 2> parts;
  std::array<mmsghdr, 2> all{};
  for (std::size_t i = 0; i < 2; ++i) {
    parts[i] = {buffers[i].data(), 4};
    all[i].msg_hdr.msg_iov = &parts[i];
    all[i].msg_hdr.msg_iovlen = 1;
  }
  return measure([&] { return call(all.data(), static_cast<unsigned>(count)); },
                 [&] {
                   return buffers[0].text() + buffers[1].text() + std::to_string(all[0].msg_len) + " " +
                          std::to_string(all[1].msg_len);
                 });
}

observation polled(std::vector<pollfd> set, int milliseconds) {
  return measure([&] { return ::poll(set.data(), set.size(), milliseconds); },
                 [&] {
                   std::string events;
                   for (const pollfd& pfd : set) events += std::to_string(pfd.revents) + " ";
                   return events;
                 });
}

// Of numbers that differ from run to run: which of the sets' bits are set, in the order of `numbers`.
template <class Call>
observation selected(const std::vector<int>& numbers, Call call) {
  fd_set in, out, other;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_ZERO(&other);
  int end = 0;
  for (const int fd : numbers) {
    FD_SET(fd, &in);
    FD_SET(fd, &out);
    FD_SET(fd, &other);
    end = std::max(end, fd + 1);
  }
  return measure([&] { return call(end, &in, &out, &other); },
                 [&] {
                   std::string bits;
                   for (const int fd : numbers)
                     for (fd_set* const set : {&in, &out, &other}) bits += FD_ISSET(fd, set) ? '1' : '0';
                   return bits;
                 });
}
int select_at_once(int end, fd_set* in, fd_set* out, fd_set* other) {
  timeval none{};
  return ::select(end, in, out, other, &none);
}
int pselect_at_once(int end, fd_set* in, fd_set* out, fd_set* other) {
  const timespec none{};
  return ::pselect(end, in, out, other, &none, nullptr);
}

struct epoll_set {
  const int fd = ::epoll_create1(EPOLL_CLOEXEC);
  ~epoll_set() { ::close(fd); }
  void add(int number) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = 5;
    REQUIRE(::epoll_ctl(fd, EPOLL_CTL_ADD, number, &event) == 0);
  }
};

template <class Call>
observation epolled(Call call) {
  filled_ends ends;
  const epoll_set set;
  set.add(ends.in());
  epoll_event event{};
  return measure([&] { return call(set.fd, &event); },
                 [&] { return std::to_string(event.events) + " " + std::to_string(event.data.u32); });
}

observation connected(int (*connect_to)(int fd, const local_listener& listener), int flags = 0) {
  const local_listener listener;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
  observation observed =
      measure([&] { return connect_to(fd, listener); }, [&] { return std::to_string(::fcntl(fd, F_GETFL)); });
  ::close(fd);
  return observed;
}
int connect_once(int fd, const local_listener& listener) {
  return ::connect(fd, listener.address(), local_listener::size);
}

template <class Accept>
observation accepted(Accept accept_from) {
  const local_listener listener;
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::connect(client, listener.address(), local_listener::size) == 0);
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  int fd = -1;
  observation observed =
      measure([&] { return (fd = accept_from(listener.fd(), reinterpret_cast<sockaddr*>(&name), &size)) >= 0; });
  observed.output = std::to_string(size) + " " + std::to_string(name.ss_family) + " " +
                    std::to_string(::fcntl(fd, F_GETFD)) + " " + std::to_string(::fcntl(fd, F_GETFL));
  ::close(fd);
  ::close(client);
  return observed;
}

const row rows[] = {
    // --- receiving
    {"recv", "what is there",
     [] {
       filled_ends e;
       return receive(e.in(), 9, 0);
     }},
    {"recv", "nothing of it",
     [] {
       filled_ends e;
       return receive(e.in(), 0, 0);
     }},
    {"recv", "MSG_PEEK",
     [] {
       filled_ends e;
       receive(e.in(), 3, MSG_PEEK);
       return receive(e.in(), 9, 0);
     }},
    {"recv", "MSG_PEEK | MSG_WAITALL",
     [] {
       filled_ends e;
       return receive(e.in(), 4, MSG_PEEK | MSG_WAITALL);
     }},
    {"recv", "MSG_PEEK | MSG_WAITALL for more, with SO_RCVTIMEO",
     [] {
       filled_ends e;
       set_limit(e.in(), SO_RCVTIMEO, 2000);
       return receive(e.in(), 9, MSG_PEEK | MSG_WAITALL);
     }},
    {"recv", "MSG_WAITALL in two parts",
     [] {
       two_ends e(stream_ends);
       const beside writer([&] {
         write_text(e.out(), "abc");
         write_text(e.out(), "def");
       });
       return receive(e.in(), 6, MSG_WAITALL);
     }},
    {"recv", "MSG_WAITALL up to the end",
     [] {
       filled_ends e;
       e.close_out();
       return receive(e.in(), 9, MSG_WAITALL);
     }},
    {"recv", "MSG_WAITALL of a datagram",
     [] {
       filled_ends e(datagram_ends);
       return receive(e.in(), 9, MSG_WAITALL);
     }},
    {"recv", "MSG_WAITALL with SO_RCVTIMEO",
     [] {
       filled_ends e;
       set_limit(e.in(), SO_RCVTIMEO, 2000);
       return receive(e.in(), 9, MSG_WAITALL);
     }},
    {"recv", "MSG_TRUNC of a datagram",
     [] {
       filled_ends e(datagram_ends);
       return receive(e.in(), 2, MSG_TRUNC);
     }},
    {"recv", "MSG_DONTWAIT",
     [] {
       two_ends e(stream_ends);
       return receive(e.in(), 9, MSG_DONTWAIT);
     }},
    {"recv", "MSG_ERRQUEUE",
     [] {
       connection_ends e;
       return receive(e.client(), 9, MSG_ERRQUEUE);
     }},
    {"recv", "MSG_OOB",
     [] {
       connection_ends e;
       return receive(e.client(), 9, MSG_OOB);
     }},
    {"recv", "O_NONBLOCK", [] { return with_nonblocking([](int fd) { return receive(fd, 9, 0); }); }},
    {"recv", "the end",
     [] {
       two_ends e(stream_ends);
       e.close_out();
       return receive(e.in(), 9, 0);
     }},
    {"recv", "after a wait",
     [] {
       two_ends e(stream_ends);
       const beside writer([&] { write_text(e.out(), "ab"); });
       return receive(e.in(), 2, 0);
     }},
    {"recv", "SO_RCVTIMEO",
     [] {
       two_ends e(stream_ends);
       set_limit(e.in(), SO_RCVTIMEO, 2000);
       return receive(e.in(), 9, 0);
     }},
    {"recv", "SO_RCVTIMEO of a listener, inherited by accept",
     [] {
       const local_listener l;
       set_limit(l.fd(), SO_RCVTIMEO, 2000);
       const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
       REQUIRE(::connect(client, l.address(), local_listener::size) == 0);
       const int fd = ::accept4(l.fd(), nullptr, nullptr, SOCK_CLOEXEC);
       const observation observed = receive(fd, 9, 0);
       ::close(fd);
       ::close(client);
       return observed;
     }},
    {"recv", "a pipe",
     [] {
       two_ends e(pipe_ends);
       return receive(e.in(), 9, 0);
     }},
    {"recv", "a closed number", [] { return receive(closed_number(), 9, 0); }},
    {"recv", "a bad address",
     [] {
       filled_ends e;
       return measure([&] { return ::recv(e.in(), bad_address(), 3, 0); });
     }},
    {"recv", "a socket that is not connected",
     [] {
       const local_socket s;
       return receive(s.fd(), 9, 0);
     }},
    {"recvfrom", "a name of a datagram",
     [] {
       const local_socket to(SOCK_DGRAM), from(SOCK_DGRAM);
       REQUIRE(::sendto(from.fd(), "abc", 3, 0, to.address(), local_socket::size) == 3);
       sockaddr_storage name{};
       socklen_t size = sizeof name;
       text_buffer b;
       return measure([&] { return ::recvfrom(to.fd(), b.data(), 9, 0, reinterpret_cast<sockaddr*>(&name), &size); },
                      [&] { return b.text() + std::to_string(size) + std::to_string(name.ss_family); });
     }},
    {"recvfrom", "of a stream the name stays",
     [] {
       filled_ends e;
       sockaddr_storage name{};
       socklen_t size = sizeof name;
       text_buffer b;
       return measure([&] { return ::recvfrom(e.in(), b.data(), 9, 0, reinterpret_cast<sockaddr*>(&name), &size); },
                      [&] { return b.text() + std::to_string(size); });
     }},
    {"recvmsg", "what is there",
     [] {
       filled_ends e;
       return receive_message(e.in(), 9, 0);
     }},
    {"recvmsg", "MSG_WAITALL in two parts",
     [] {
       two_ends e(stream_ends);
       const beside writer([&] {
         write_text(e.out(), "abc");
         write_text(e.out(), "def");
       });
       return receive_message(e.in(), 6, MSG_WAITALL);
     }},
    {"recvmsg", "MSG_PEEK | MSG_WAITALL",
     [] {
       filled_ends e;
       return receive_message(e.in(), 5, MSG_PEEK | MSG_WAITALL);
     }},
    {"recvmsg", "a datagram that is cut",
     [] {
       filled_ends e(datagram_ends);
       return receive_message(e.in(), 4, 0);
     }},
    {"recvmsg", "MSG_DONTWAIT",
     [] {
       two_ends e(stream_ends);
       return receive_message(e.in(), 9, MSG_DONTWAIT);
     }},
    {"recvmsg", "SO_RCVTIMEO",
     [] {
       two_ends e(stream_ends);
       set_limit(e.in(), SO_RCVTIMEO, 2000);
       return receive_message(e.in(), 9, 0);
     }},
    {"recvmsg", "a closed number", [] { return receive_message(closed_number(), 9, 0); }},
    {"recvmmsg", "two messages",
     [] {
       filled_ends e(datagram_ends, "abc");
       write_text(e.out(), "de");
       return batch_outcome([&](mmsghdr* all, unsigned n) { return ::recvmmsg(e.in(), all, n, 0, nullptr); });
     }},
    {"recvmmsg", "MSG_WAITFORONE",
     [] {
       filled_ends e(datagram_ends, "abc");
       return batch_outcome(
           [&](mmsghdr* all, unsigned n) { return ::recvmmsg(e.in(), all, n, MSG_WAITFORONE, nullptr); });
     }},
    {"recvmmsg", "MSG_DONTWAIT",
     [] {
       two_ends e(datagram_ends);
       return batch_outcome(
           [&](mmsghdr* all, unsigned n) { return ::recvmmsg(e.in(), all, n, MSG_DONTWAIT, nullptr); });
     }},
    {"recvmmsg", "SO_RCVTIMEO after the first",
     [] {
       filled_ends e(datagram_ends, "abc");
       set_limit(e.in(), SO_RCVTIMEO, 2000);
       return batch_outcome([&](mmsghdr* all, unsigned n) { return ::recvmmsg(e.in(), all, n, 0, nullptr); });
     }},
    {"recvmmsg", "a time of 0",
     [] {
       filled_ends e(datagram_ends, "abc");
       timespec none{};
       return batch_outcome([&](mmsghdr* all, unsigned n) { return ::recvmmsg(e.in(), all, n, 0, &none); }, 1);
     }},
    {"recvmmsg", "a pipe",
     [] {
       two_ends e(pipe_ends);
       return batch_outcome([&](mmsghdr* all, unsigned n) { return ::recvmmsg(e.in(), all, n, 0, nullptr); });
     }},
    // --- sending
    {"send", "all",
     [] {
       two_ends e(stream_ends);
       return measure([&] { return ::send(e.out(), "abc", 3, 0); });
     }},
    {"send", "nothing",
     [] {
       two_ends e(stream_ends);
       return measure([&] { return ::send(e.out(), "", 0, 0); });
     }},
    {"send", "a datagram that is too large",
     [] {
       const local_socket s(SOCK_DGRAM);
       REQUIRE(::connect(s.fd(), s.address(), local_socket::size) == 0);
       return measure([&] { return ::send(s.fd(), buffer.data(), 100'000, 0); });
     }},
    {"send", "to a closed peer",
     [] { return send_to_closed([](int fd, char* data, std::size_t n) { return ::send(fd, data, n, 0); }); }},
    {"send", "to a closed peer, MSG_NOSIGNAL",
     [] {
       return send_to_closed([](int fd, char* data, std::size_t n) { return ::send(fd, data, n, MSG_NOSIGNAL); });
     }},
    {"send", "the peer goes after a part",
     [] { return send_to_leaving_peer([](int fd, char* data, std::size_t n) { return ::send(fd, data, n, 0); }); }},
    {"send", "SO_SNDTIMEO after a part",
     [] {
       two_ends e(stream_ends);
       set_limit(e.out(), SO_SNDTIMEO, 2000);
       observation o = measure([&] { return ::send(e.out(), buffer.data(), buffer.size(), 0); });
       const observation second = measure([&] { return ::send(e.out(), buffer.data(), buffer.size(), 0); });
       o.result = o.result > 0 && o.result < long(buffer.size());
       o.output = std::to_string(second.result) + " " + std::to_string(second.error);
       return o;
     }},
    {"send", "a pipe",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::send(e.out(), "a", 1, 0); });
     }},
    {"send", "a closed number", [] { return measure([] { return ::send(closed_number(), "a", 1, 0); }); }},
    {"send", "a socket that is not connected",
     [] {
       const local_socket s;
       return measure([&] { return ::send(s.fd(), "a", 1, MSG_NOSIGNAL); });
     }},
    {"sendto", "a datagram",
     [] {
       const local_socket s(SOCK_DGRAM);
       return measure([&] { return ::sendto(s.fd(), "abc", 3, 0, s.address(), local_socket::size); });
     }},
    {"sendto", "a datagram without an address",
     [] {
       const local_socket s(SOCK_DGRAM);
       return measure([&] { return ::sendto(s.fd(), "abc", 3, 0, nullptr, 0); });
     }},
    {"sendto", "the peer goes after a part",
     [] {
       return send_to_leaving_peer(
           [](int fd, char* data, std::size_t n) { return ::sendto(fd, data, n, 0, nullptr, 0); });
     }},
    {"sendmsg", "the peer goes after a part",
     [] {
       return send_to_leaving_peer([](int fd, char* data, std::size_t n) {
         std::array<iovec, 2> parts{iovec{data, n / 2}, {data + n / 2, n - n / 2}};
         msghdr m{};
         m.msg_iov = parts.data();
         m.msg_iovlen = 2;
         return ::sendmsg(fd, &m, 0);
       });
     }},
    {"sendmsg", "descriptors go once",
     [] { return send_descriptors([](int fd, msghdr& m) { return ::sendmsg(fd, &m, 0); }); }},
    {"sendmsg", "a closed number",
     [] {
       return measure([] {
         msghdr m{};
         return ::sendmsg(closed_number(), &m, 0);
       });
     }},
    {"sendmmsg", "descriptors go once",
     [] {
       return send_descriptors([](int fd, msghdr& m) {
         mmsghdr all{};
         all.msg_hdr = m;
         const long n = ::sendmmsg(fd, &all, 1, 0);
         return n == 1 ? long(all.msg_len) : n;
       });
     }},
    {"sendmmsg", "two messages",
     [] {
       two_ends e(datagram_ends);
       return batch_outcome([&](mmsghdr* all, unsigned n) { return ::sendmmsg(e.out(), all, n, 0); });
     }},
    {"sendmmsg", "a closed number",
     [] { return batch_outcome([&](mmsghdr* all, unsigned n) { return ::sendmmsg(closed_number(), all, n, 0); }); }},
    // --- connecting
    {"connect", "a listener", [] { return connected(&connect_once); }},
    {"connect", "twice",
     [] {
       return connected([](int fd, const local_listener& l) {
         connect_once(fd, l);
         return connect_once(fd, l);
       });
     }},
    {"connect", "a port that is closed",
     [] {
       const local_socket s;
       const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
       observation o = measure([&] { return ::connect(fd, s.address(), local_socket::size); });
       ::close(fd);
       return o;
     }},
    {"connect", "a short address",
     [] { return connected([](int fd, const local_listener& l) { return ::connect(fd, l.address(), 2); }); }},
    {"connect", "a bad address",
     [] {
       return connected(
           [](int fd, const local_listener&) { return ::connect(fd, static_cast<sockaddr*>(bad_address()), 16); });
     }},
    {"connect", "a datagram socket",
     [] {
       const local_socket s(SOCK_DGRAM), to(SOCK_DGRAM);
       return measure([&] { return ::connect(s.fd(), to.address(), local_socket::size); });
     }},
    {"connect", "a pipe",
     [] {
       two_ends e(pipe_ends);
       const local_listener l;
       return measure([&] { return connect_once(e.in(), l); });
     }},
    {"connect", "SO_SNDTIMEO",
     [] {
       const full_listener l;
       const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
       set_limit(fd, SO_SNDTIMEO, 2000);
       observation o = measure([&] { return ::connect(fd, l.address(), local_listener::size); });
       ::close(fd);
       return o;
     }},
    {"accept", "a connection",
     [] { return accepted([](int fd, sockaddr* name, socklen_t* size) { return ::accept(fd, name, size); }); }},
    {"accept", "SO_RCVTIMEO",
     [] {
       const local_listener l;
       set_limit(l.fd(), SO_RCVTIMEO, 2000);
       return measure([&] { return ::accept(l.fd(), nullptr, nullptr); });
     }},
    {"accept", "no listener",
     [] {
       const local_socket s;
       return measure([&] { return ::accept(s.fd(), nullptr, nullptr); });
     }},
    {"accept", "a datagram socket",
     [] {
       const local_socket s(SOCK_DGRAM);
       return measure([&] { return ::accept(s.fd(), nullptr, nullptr); });
     }},
    {"accept", "a pipe",
     [] {
       two_ends e(pipe_ends);
       return measure([&] { return ::accept(e.in(), nullptr, nullptr); });
     }},
    {"accept4", "SOCK_CLOEXEC and SOCK_NONBLOCK",
     [] {
       return accepted([](int fd, sockaddr* name, socklen_t* size) {
         return ::accept4(fd, name, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
       });
     }},
    {"accept4", "O_NONBLOCK",
     [] {
       const local_listener l;
       REQUIRE(::fcntl(l.fd(), F_SETFL, O_NONBLOCK) == 0);
       return measure([&] { return ::accept4(l.fd(), nullptr, nullptr, 0); });
     }},
    // --- events
    {"poll", "of each kind",
     [] {
       filled_ends a;
       two_ends b(stream_ends), p(pipe_ends);
       p.close_out();
       return polled({{a.in(), POLLIN | POLLOUT, 9},
                      {b.in(), POLLIN, 9},
                      {p.in(), POLLIN, 9},
                      {-1, POLLIN, 9},
                      {closed_number(), POLLIN, 9}},
                     -1);
     }},
    {"poll", "after a wait",
     [] {
       two_ends e(stream_ends);
       const beside w([&] { write_text(e.out(), "a"); });
       return polled({{e.in(), POLLIN, 9}}, -1);
     }},
    {"poll", "a time",
     [] {
       two_ends e(stream_ends);
       return polled({{e.in(), POLLIN, 9}}, 2);
     }},
    {"poll", "no time",
     [] {
       two_ends e(stream_ends);
       return polled({{e.in(), POLLIN, 9}}, 0);
     }},
    {"poll", "the peer has closed",
     [] {
       two_ends e(stream_ends);
       e.close_out();
       return polled({{e.in(), POLLIN | POLLRDHUP, 9}}, -1);
     }},
    {"poll", "nothing", [] { return polled({}, 2); }},
    {"poll", "a bad address", [] { return measure([] { return ::poll(static_cast<pollfd*>(bad_address()), 1, 5); }); }},
    {"ppoll", "an invalid time",
     [] {
       return measure([] {
         const timespec t{0, 2'000'000'000};
         return ::ppoll(nullptr, 0, &t, nullptr);
       });
     }},
    {"ppoll", "a time",
     [] {
       two_ends e(stream_ends);
       pollfd pfd{e.in(), POLLIN, 9};
       const timespec t{0, 1'000'000};
       return measure([&] { return ::ppoll(&pfd, 1, &t, nullptr); }, [&] { return std::to_string(pfd.revents); });
     }},
    {"select", "of each kind",
     [] {
       filled_ends a;
       two_ends b(stream_ends), p(pipe_ends);
       p.close_out();
       return selected({a.in(), b.in(), p.in()}, select_at_once);
     }},
    {"select", "a hang-up alone",
     [] {
       two_ends p(pipe_ends);
       p.close_out();
       return selected({p.in()}, [](int end, fd_set* in, fd_set*, fd_set*) {
         timeval time{0, 50'000};
         return ::select(end, in, nullptr, nullptr, &time);
       });
     }},
    {"select", "a pipe without a reader",
     [] {
       two_ends p(pipe_ends);
       p.close_in();
       return selected({p.out()}, select_at_once);
     }},
    {"select", "a closed number",
     [] {
       const int fd = ::dup(0);
       ::close(fd);
       return selected({fd}, select_at_once);
     }},
    {"select", "a negative end",
     [] { return measure([] { return ::select(-1, nullptr, nullptr, nullptr, nullptr); }); }},
    {"select", "a negative time",
     [] {
       return measure([] {
         timeval t{0, -1};
         return ::select(0, nullptr, nullptr, nullptr, &t);
       });
     }},
    {"select", "a time",
     [] {
       two_ends e(stream_ends);
       timeval t{0, 2000};
       observation o = selected(
           {e.in()}, [&](int end, fd_set* in, fd_set*, fd_set*) { return ::select(end, in, nullptr, nullptr, &t); });
       o.output += std::to_string(t.tv_sec) + " " + std::to_string(t.tv_usec);
       return o;
     }},
    {"pselect", "of each kind",
     [] {
       filled_ends a;
       two_ends b(stream_ends);
       return selected({a.in(), b.in()}, pselect_at_once);
     }},
    {"pselect", "an invalid time",
     [] {
       return measure([] {
         const timespec t{0, -1};
         return ::pselect(0, nullptr, nullptr, nullptr, &t, nullptr);
       });
     }},
    {"epoll_wait", "an event",
     [] { return epolled([](int set, epoll_event* e) { return ::epoll_wait(set, e, 1, -1); }); }},
    {"epoll_wait", "no room",
     [] { return epolled([](int set, epoll_event* e) { return ::epoll_wait(set, e, 0, 5); }); }},
    {"epoll_wait", "a time",
     [] {
       const epoll_set s;
       epoll_event e{};
       return measure([&] { return ::epoll_wait(s.fd, &e, 1, 2); });
     }},
    {"epoll_wait", "no epoll",
     [] {
       two_ends p(pipe_ends);
       epoll_event e{};
       return measure([&] { return ::epoll_wait(p.in(), &e, 1, 2); });
     }},
    {"epoll_pwait", "an event",
     [] { return epolled([](int set, epoll_event* e) { return ::epoll_pwait(set, e, 1, -1, nullptr); }); }},
    {"epoll_pwait2", "an event",
     [] { return epolled([](int set, epoll_event* e) { return ::epoll_pwait2(set, e, 1, nullptr, nullptr); }); }},
    {"epoll_pwait2", "an invalid time",
     [] {
       return epolled([](int set, epoll_event* e) {
         const timespec t{0, -1};
         return ::epoll_pwait2(set, e, 1, &t, nullptr);
       });
     }},
    // --- options
    {"getsockopt", "SO_ERROR",
     [] {
       connection_ends e;
       int error = 5;
       socklen_t size = sizeof error;
       return measure([&] { return ::getsockopt(e.client(), SOL_SOCKET, SO_ERROR, &error, &size); },
                      [&] { return std::to_string(error) + " " + std::to_string(size); });
     }},
    {"getsockopt", "a pipe",
     [] {
       two_ends p(pipe_ends);
       int v = 5;
       socklen_t size = sizeof v;
       return measure([&] { return ::getsockopt(p.in(), SOL_SOCKET, SO_ERROR, &v, &size); });
     }},
    {"setsockopt", "an invalid time",
     [] {
       two_ends e(stream_ends);
       const timeval t{0, 2'000'000};
       return measure([&] { return ::setsockopt(e.in(), SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t); });
     }},
};

}  // namespace

std::span<const row> socket_rows() { return rows; }

}  // namespace hooked_tests
