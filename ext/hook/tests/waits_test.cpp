// Calls that wait: for a peer, for several numbers, for a time, for a name, for a lock.
#include "blocking.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <support/temporary_folder.hpp>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/un.h>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr auto stream_ends = two_ends::kind::stream;

// A listener on 127.0.0.1.
class tcp_listener {
 public:
  tcp_listener() {
    sockaddr_in at = local();
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    socklen_t size = sizeof address_;
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address_), &size) == 0);
  }
  tcp_listener(const tcp_listener&) = delete;
  tcp_listener& operator=(const tcp_listener&) = delete;
  ~tcp_listener() { ::close(fd_); }
  void listen() { REQUIRE(::listen(fd_, 16) == 0); }
  int fd() const { return fd_; }
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static sockaddr_in local() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
  }

 private:
  const int fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address_{};
};

int new_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

// A listener whose backlog is full: the system drops new connections.
struct full_listener : tcp_listener {
  full_listener() {
    REQUIRE(::listen(fd(), 0) == 0);
    for (int& client : clients) {
      client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      static_cast<void>(::connect(client, address(), sizeof(sockaddr_in)));
    }
  }
  ~full_listener() {
    for (const int client : clients) ::close(client);
  }
  std::array<int, 4> clients{};
};

void set_limit(int fd, int which, std::chrono::milliseconds time) {
  const timeval limit{time.count() / 1000, (time.count() % 1000) * 1000};
  REQUIRE(::setsockopt(fd, SOL_SOCKET, which, &limit, sizeof limit) == 0);
}

time_point present() { return std::chrono::steady_clock::now(); }

}  // namespace

TEST_CASE("accept waits for a connection, connect for its end") {
  tcp_listener listener;
  listener.listen();
  meet(
      [&] {
        const int peer = ::accept(listener.fd(), nullptr, nullptr);
        REQUIRE(peer >= 0);
        CHECK(read_text(peer) == "hello");
        CHECK((::fcntl(peer, F_GETFD) & FD_CLOEXEC) == 0);
        ::close(peer);
        const int second = ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
        REQUIRE(second >= 0);
        CHECK((::fcntl(second, F_GETFD) & FD_CLOEXEC) != 0);
        ::close(second);
      },
      [&] {
        const hook::scope in;
        for (int i = 0; i < 2; ++i) {
          const int to = new_socket();
          CHECK(::connect(to, listener.address(), sizeof(sockaddr_in)) == 0);
          CHECK((::fcntl(to, F_GETFL) & O_NONBLOCK) == 0);
          if (i == 0) write_text(to, "hello");
          ::close(to);
        }
      });
}

// A fault of libgo: it reported a refused connection as ETIMEDOUT.
TEST_CASE("a refused connection is refused") {
  tcp_listener listener;
  in_fiber([&] {
    const int to = new_socket();
    CHECK(::connect(to, listener.address(), sizeof(sockaddr_in)) == -1);
    CHECK(errno == ECONNREFUSED);
    ::close(to);
  });
}

// libco gave up a connect after 75 seconds, and every wait after one.
TEST_CASE("a connect without an answer waits for its own time: SO_SNDTIMEO, a deadline") {
  full_listener listener;
  const int to = new_socket();
  set_limit(to, SO_SNDTIMEO, 20ms);
  in_fiber([&] {
    CHECK(::connect(to, listener.address(), sizeof(sockaddr_in)) == -1);
    CHECK(errno == EINPROGRESS);
  });
  ::close(to);
  const int other = new_socket();
  in_fiber(
      [&] {
        CHECK(::connect(other, listener.address(), sizeof(sockaddr_in)) == -1);
        CHECK(errno == ETIMEDOUT);
      },
      {.within = 20ms});
  ::close(other);
}

TEST_CASE("a unix listener whose backlog is full is waited for") {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "hocket-hook-%d", ::getpid());
  const auto* const address = reinterpret_cast<const sockaddr*>(&at);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(listener, address, sizeof at) == 0);
  REQUIRE(::listen(listener, 0) == 0);
  std::array<int, 3> clients;
  for (int& client : clients) client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int connected = 0;
  meet(
      [&] {
        for (const int client : clients) connected += ::connect(client, address, sizeof at) == 0;
      },
      [&] {
        const hook::scope in;
        for (std::size_t i = 0; i < clients.size(); ++i) ::close(::accept(listener, nullptr, nullptr));
      });
  CHECK(connected == 3);
  for (const int client : clients) ::close(client);
  ::close(listener);
}

TEST_CASE("a read ends by SO_RCVTIMEO, with EAGAIN, and a write by SO_SNDTIMEO") {
  two_ends ends(stream_ends);
  set_limit(ends.in(), SO_RCVTIMEO, 5ms);
  set_limit(ends.in(), SO_SNDTIMEO, 5ms);
  in_fiber([&] {
    char byte = 0;
    CHECK(::recv(ends.in(), &byte, 1, 0) == -1);
    CHECK(errno == EAGAIN);
    CHECK(::read(ends.in(), &byte, 1) == -1);
    CHECK(errno == EAGAIN);
    const std::vector<char> much(10'000'000);
    const ssize_t sent = ::write(ends.in(), much.data(), much.size());
    CHECK(sent > 0);
    CHECK(sent < ssize_t(much.size()));
    CHECK(::write(ends.in(), much.data(), much.size()) == -1);
    CHECK(errno == EAGAIN);
  });
}

TEST_CASE("poll waits for any of its numbers, and reports all that are ready") {
  two_ends first(pipe_ends), second(stream_ends);
  std::array<pollfd, 4> all{
      pollfd{first.in(), POLLIN, 0}, {second.in(), POLLIN, 0}, {-1, POLLIN, 0}, {second.in(), 0, 7}};
  meet([&] { CHECK(::poll(all.data(), all.size(), -1) == 1); }, [&] { write_text(second.out(), "x"); });
  CHECK(all[0].revents == 0);
  CHECK(all[1].revents == POLLIN);
  CHECK(all[2].revents == 0);
  CHECK(all[3].revents == 0);
  in_fiber([&] {
    const timespec long_time{3600, 0};
    CHECK(::ppoll(all.data(), all.size(), &long_time, nullptr) == 1);
    write_text(first.out(), "x");
    CHECK(::poll(all.data(), all.size(), 0) == 2);
  });
}

TEST_CASE("poll with a time: 0 never waits, a finite one ends with 0") {
  two_ends ends(pipe_ends);
  pollfd pfd{ends.in(), POLLIN, 0};
  CHECK(waits_of([&] { in_fiber([&] { CHECK(::poll(&pfd, 1, 0) == 0); }); }) == 0);
  in_fiber([&] {
    const time_point before = present();
    CHECK(::poll(&pfd, 1, 5) == 0);
    CHECK(present() - before >= 5ms);
    CHECK(::poll(nullptr, 0, 5) == 0);
    CHECK(present() - before >= 10ms);
    timespec wrong{0, 2'000'000'000};
    CHECK(::ppoll(&pfd, 1, &wrong, nullptr) == -1);
    CHECK(errno == EINVAL);
  });
}

TEST_CASE("a loop over poll with time 0 lets others run") {
  two_ends ends(pipe_ends);
  pollfd pfd{ends.in(), POLLIN, 0};
  meet(
      [&] {
        while (::poll(&pfd, 1, 0) == 0) {
        }
      },
      [&] { write_text(ends.out(), "x"); });
}

TEST_CASE("select is poll: it waits, clears what is not ready, and refuses what is closed") {
  two_ends first(pipe_ends), second(stream_ends);
  fd_set in, out;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(first.in(), &in);
  FD_SET(second.in(), &in);
  const int end = std::max(first.in(), second.in()) + 1;
  meet([&] { CHECK(::select(end, &in, &out, nullptr, nullptr) == 1); }, [&] { write_text(first.out(), "x"); });
  CHECK(FD_ISSET(first.in(), &in));
  CHECK_FALSE(FD_ISSET(second.in(), &in));
  in_fiber([&] {
    FD_SET(second.in(), &in);
    FD_SET(second.in(), &out);
    CHECK(::select(end, &in, &out, nullptr, nullptr) == 2);
    FD_ZERO(&in);
    FD_SET(second.in(), &in);
    timeval time{0, 3000};
    CHECK(::select(end, &in, nullptr, nullptr, &time) == 0);
    CHECK_FALSE(FD_ISSET(second.in(), &in));
    timespec little{0, 1'000'000};
    CHECK(::pselect(0, nullptr, nullptr, nullptr, &little, nullptr) == 0);
    const int closed = second.in();
    second.close_in();
    FD_SET(closed, &in);
    CHECK(::select(closed + 1, &in, nullptr, nullptr, nullptr) == -1);
    CHECK(errno == EBADF);
    CHECK(::select(-1, nullptr, nullptr, nullptr, nullptr) == -1);
    CHECK(errno == EINVAL);
  });
}

TEST_CASE("epoll_wait waits") {
  two_ends ends(pipe_ends);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  REQUIRE(::epoll_ctl(epoll, EPOLL_CTL_ADD, ends.in(), &event) == 0);
  epoll_event ready{};
  in_fiber([&] { CHECK(::epoll_wait(epoll, &ready, 1, 2) == 0); });
  meet([&] { CHECK(::epoll_wait(epoll, &ready, 1, -1) == 1); }, [&] { write_text(ends.out(), "x"); });
  CHECK(std::uint32_t{ready.events} == EPOLLIN);
  in_fiber([&] { CHECK(::epoll_pwait(epoll, &ready, 1, -1, nullptr) == 1); });
  ::close(epoll);
}

TEST_CASE("sleeps take their time, and the thread runs others") {
  int others = 0;
  const time_point before = present();
  meet(
      [&] {
        const timespec time{0, 2'000'000};
        CHECK(::usleep(2000) == 0);
        CHECK(::nanosleep(&time, nullptr) == 0);
        CHECK(::clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr) == 0);
        timespec until{};
        REQUIRE(::clock_gettime(CLOCK_REALTIME, &until) == 0);
        until.tv_sec += until.tv_nsec >= 998'000'000;
        until.tv_nsec = (until.tv_nsec + 2'000'000) % 1'000'000'000;
        CHECK(::clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) == 0);
        CHECK(others != 0);
        CHECK(::sleep(0) == 0);
        const timespec wrong{0, -1};
        CHECK(::nanosleep(&wrong, nullptr) == -1);
        CHECK(errno == EINVAL);
        CHECK(::clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong, nullptr) == EINVAL);
      },
      [&] { ++others; });
  CHECK(present() - before >= 8ms);
}

// FAULTS 59.
TEST_CASE("names are looked up on the pool; a numeric host is answered at once") {
  const auto pooled = [] { return hook::collect_statistics().pooled; };
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  in_fiber([&] {
    addrinfo* found = nullptr;
    const auto before = pooled();
    CHECK(::getaddrinfo("127.0.0.1", "80", &hints, &found) == 0);
    ::freeaddrinfo(found);
    CHECK(pooled() == before);
    CHECK(::getaddrinfo("localhost", "80", &hints, &found) == 0);
    CHECK(reinterpret_cast<sockaddr_in*>(found->ai_addr)->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    CHECK(pooled() == before + 1);
    std::array<char, 64> host{};
    CHECK(::getnameinfo(found->ai_addr, found->ai_addrlen, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) == 0);
    CHECK(std::string_view(host.data()) == "127.0.0.1");
    ::freeaddrinfo(found);
    CHECK(pooled() == before + 1);
    CHECK(::gethostbyname("localhost") != nullptr);
    hostent room{}, *entry = nullptr;
    std::array<char, 2000> buffer{};
    int wrong = 0;
    CHECK(::gethostbyname_r("localhost", &room, buffer.data(), buffer.size(), &entry, &wrong) == 0);
    CHECK(entry == &room);
    CHECK(pooled() == before + 3);
    CHECK(::getaddrinfo("no such name", nullptr, &hints, &found) != 0);
  });
}

TEST_CASE("a file lock is waited for without a thread, and a cancel ends that") {
  const hocket_test::temporary_folder folder;
  const std::string name = folder / "file";
  const int mine = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600),
            other = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(mine >= 0);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  const auto before = hook::collect_statistics().pooled;
  meet([&] { CHECK(::flock(mine, LOCK_EX) == 0); }, [&] { CHECK(::flock(other, LOCK_UN) == 0); });
  CHECK(hook::collect_statistics().pooled == before);
  struct flock whole{};
  whole.l_type = F_WRLCK;
  in_fiber(
      [&] {
        CHECK(::lockf(mine, F_LOCK, 0) == 0);
        CHECK(::fcntl(other, F_OFD_SETLKW, &whole) == -1);
        CHECK(errno == ETIMEDOUT);
      },
      {.within = 5ms});
  ::close(mine);
  ::close(other);
}
