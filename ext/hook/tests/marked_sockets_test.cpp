// A connection at which a hooked call was ended refuses each transfer until it is closed: at every entry point, for
// every end of the fiber.
#include "connection_calls.hpp"

#include <marked_sockets.hpp>
#include <support/temporary_folder.hpp>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <thread>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr auto stream_ends = two_ends::kind::stream;
constexpr auto datagram_ends = two_ends::kind::datagram;

}  // namespace

TEST_CASE("each transfer that is ended at a connection marks it: from then on every transfer fails with ECONNABORTED") {
  for (const ending end : endings)
    for (const transfer& each : transfers) {
      CAPTURE(std::string(name_of(end)));
      CAPTURE(std::string(each.name));
      const others beside;
      write_text(beside.filled.out(), "some");
      connection_ends ends;
      if (!each.is_of_input) ends.fill();
      run_and_end(end, [&] {
        errno = 0;
        const ssize_t moved = each.call(ends.client(), beside);
        CHECK(moved < static_cast<ssize_t>(buffer.size()));
        if (moved < 0) CHECK(errno == (is_by_time(end) ? ETIMEDOUT : ECONNABORTED));
        if (each.is_of_input) CHECK(moved == -1);
        errno = 0;
        CHECK(::recv(ends.client(), buffer.data(), 1, MSG_DONTWAIT) == -1);
        CHECK(errno == ECONNABORTED);
      });
      if (each.is_of_input) ends.answer();
      expect_refused_everywhere(ends.client(), beside);
    }
  CHECK_FALSE(hook::has_marks());
}

TEST_CASE(
    "each poll and select that is ended at a connection reports what it was asked for, with POLLERR, and marks it") {
  for (const ending end : endings)
    for (const polling& each : polls) {
      CAPTURE(std::string(name_of(end)));
      CAPTURE(std::string(each.name));
      const others beside;
      connection_ends ends;
      run_and_end(end, [&] {
        CHECK(each.call(ends.client(), 3'600'000) == 1);
        CHECK(each.call(ends.client(), -1) == 1);
        expect_refused(ends.client(), beside);
      });
      ends.answer();
      expect_refused_everywhere(ends.client(), beside);
    }
}

TEST_CASE("a poll that is ended reports the connections of its set alone: connected, connecting, of a unix listener") {
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    connection_ends tcp;
    const full_listener full;
    const local_listener idle;
    const int connecting = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(::connect(connecting, full.address(), local_listener::size) == -1);
    REQUIRE(errno == EINPROGRESS);
    two_ends pipe(pipe_ends), pair(stream_ends), datagrams(datagram_ends);
    const hocket_test::temporary_folder folder;
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::snprintf(place.sun_path, sizeof place.sun_path, "%s", (folder / "socket").c_str());
    const auto* const address = reinterpret_cast<const sockaddr*>(&place);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
              client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(listener, address, sizeof place) == 0);
    REQUIRE(::listen(listener, 4) == 0);
    REQUIRE(::connect(client, address, sizeof place) == 0);
    const int server = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    std::array<pollfd, 10> set{pollfd{tcp.client(), POLLIN, 0},
                               {connecting, POLLOUT | POLLIN, 0},
                               {client, POLLIN, 0},
                               {server, POLLIN | POLLPRI, 0},
                               {tcp.server(), 0, 0},
                               {pipe.in(), POLLIN, 7},
                               {pair.in(), POLLIN, 7},
                               {datagrams.in(), POLLIN, 7},
                               {idle.fd(), POLLIN, 7},
                               {-1, POLLIN, 7}};
    run_and_end(end, [&] { CHECK(::poll(set.data(), set.size(), -1) == 5); });
    CHECK(set[0].revents == (POLLIN | POLLERR));
    CHECK(set[1].revents == (POLLIN | POLLOUT | POLLERR));
    CHECK(set[2].revents == (POLLIN | POLLERR));
    CHECK(set[3].revents == (POLLIN | POLLPRI | POLLERR));
    CHECK(set[4].revents == POLLERR);
    for (std::size_t i = 5; i < set.size(); ++i) CHECK(set[i].revents == 0);
    const others beside;
    for (const int fd : {tcp.client(), connecting, client, server, tcp.server()}) expect_refused_everywhere(fd, beside);
    write_text(pair.out(), "x");
    CHECK(read_text(pair.in()) == "x");
    for (const int fd : {connecting, client, server, listener}) ::close(fd);
  }
}

TEST_CASE("a select that is ended leaves the bits of connections, and clears the others") {
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    connection_ends first, second;
    second.fill();
    two_ends pair(stream_ends), pipe(pipe_ends);
    fd_set in, out;
    FD_ZERO(&in);
    FD_ZERO(&out);
    for (const int fd : {first.client(), pair.in(), pipe.in()}) FD_SET(fd, &in);
    for (const int fd : {second.client()}) FD_SET(fd, &out);
    run_and_end(end, [&] { CHECK(::select(100, &in, &out, nullptr, nullptr) == 2); });
    CHECK(FD_ISSET(first.client(), &in));
    CHECK(FD_ISSET(second.client(), &out));
    CHECK_FALSE(FD_ISSET(pair.in(), &in));
    CHECK_FALSE(FD_ISSET(pipe.in(), &in));
    CHECK_FALSE(FD_ISSET(first.client(), &out));
    CHECK_FALSE(FD_ISSET(second.client(), &in));
    CHECK(hook::is_marked(first.client()));
    CHECK(hook::is_marked(second.client()));
  }
}

TEST_CASE("what is no connection fails with ECANCELED when a poll, select or epoll_wait is ended, and is not marked") {
  const local_listener listener;
  const local_socket datagrams(SOCK_DGRAM);
  two_ends pipe(pipe_ends), pair(stream_ends);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  connection_ends ends;
  REQUIRE(::epoll_ctl(epoll, EPOLL_CTL_ADD, ends.client(), &event) == 0);
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    const auto expect = [&](auto call) {
      run_and_end(end, [&] {
        errno = 0;
        CHECK(call() == -1);
        CHECK(errno == ECANCELED);
      });
    };
    for (const int fd : {listener.fd(), datagrams.fd(), pipe.in(), pair.in(), epoll})
      for (const polling& each : polls) {
        CAPTURE(std::string(each.name));
        expect([&] { return each.call(fd, 3'600'000); });
      }
    expect([] { return ::poll(nullptr, 0, -1); });
    expect([] { return ::select(0, nullptr, nullptr, nullptr, nullptr); });
    expect([&] { return ::epoll_wait(epoll, &event, 1, 3'600'000); });
    expect([&] { return ::epoll_pwait(epoll, &event, 1, -1, nullptr); });
    const timespec hour{3600, 0};
    expect([&] { return ::epoll_pwait2(epoll, &event, 1, &hour, nullptr); });
  }
  ::close(epoll);
  CHECK_FALSE(hook::has_marks());
  expect_works(ends);
}

TEST_CASE("an ended accept, a receive of a datagram and a read of a pipe mark nothing") {
  const local_listener listener;
  const local_socket datagrams(SOCK_DGRAM);
  two_ends pipe(pipe_ends), pair(stream_ends);
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    const auto expect = [&](auto call) {
      run_and_end(end, [&] {
        CHECK(call() == -1);
        CHECK(errno == (is_by_time(end) ? ETIMEDOUT : ECANCELED));
      });
    };
    expect([&] { return ::accept(listener.fd(), nullptr, nullptr); });
    expect([&] { return ::recv(datagrams.fd(), buffer.data(), 1, 0); });
    expect([&] { return ::read(pipe.in(), buffer.data(), 1); });
    expect([&] { return ::recv(pair.in(), buffer.data(), 1, 0); });
  }
  CHECK_FALSE(hook::has_marks());
}

TEST_CASE("a connect that is ended marks its socket: at a full listener of TCP and of a unix socket") {
  const full_listener full;
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  std::snprintf(place.sun_path + 1, sizeof place.sun_path - 1, "hocket-mark-%d", ::getpid());
  const auto* const address = reinterpret_cast<const sockaddr*>(&place);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(listener, address, sizeof place) == 0);
  REQUIRE(::listen(listener, 0) == 0);
  const int first = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::connect(first, address, sizeof place) == 0);
  const others beside;
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    const auto expect = [&](int family, const sockaddr* to, socklen_t size) {
      const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
      run_and_end(end, [&] {
        CHECK(::connect(fd, to, size) == -1);
        CHECK(errno == (is_by_time(end) ? ETIMEDOUT : ECONNABORTED));
      });
      expect_refused(fd, beside);
      ::close(fd);
    };
    expect(AF_INET, full.address(), local_listener::size);
    expect(AF_UNIX, address, sizeof place);
  }
  ::close(first);
  ::close(listener);
  CHECK_FALSE(hook::has_marks());
}

TEST_CASE("a send of which a part went before the end returns its size, and the next transfer fails") {
  for (const ending end : endings) {
    CAPTURE(std::string(name_of(end)));
    connection_ends ends;
    run_and_end(end, [&] {
      const ssize_t sent = ::send(ends.client(), buffer.data(), buffer.size(), 0);
      CHECK(sent > 0);
      CHECK(sent < static_cast<ssize_t>(buffer.size()));
      CHECK(::send(ends.client(), "x", 1, MSG_NOSIGNAL) == -1);
      CHECK(errno == ECONNABORTED);
    });
  }
}

TEST_CASE("each call of a killed fiber at a connection fails and marks it, also a call that need not wait") {
  for (const transfer& each : transfers) {
    CAPTURE(std::string(each.name));
    const others beside;
    two_ends pipe(pipe_ends);
    connection_ends ends;
    ends.answer();
    run_and_end(ending::kill, [&] {
      CHECK(::read(pipe.in(), buffer.data(), 1) == -1);
      CHECK(each.call(ends.client(), beside) == -1);
      CHECK(errno == ECONNABORTED);
    });
    expect_refused_everywhere(ends.client(), beside);
  }
}

TEST_CASE("what ends a wait of a thread, too, marks nothing: SO_RCVTIMEO, a time of poll, a close, MSG_DONTWAIT") {
  connection_ends ends;
  in_fiber([&] {
    CHECK(::recv(ends.client(), buffer.data(), 1, MSG_DONTWAIT) == -1);
    CHECK(errno == EAGAIN);
    for (const polling& each : polls) {
      CHECK(each.call(ends.client(), 1) == 0);
      CHECK(each.call(ends.client(), 0) == 0);
    }
    const timeval limit{0, 1000};
    CHECK(::setsockopt(ends.client(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(::recv(ends.client(), buffer.data(), 1, 0) == -1);
    CHECK(errno == EAGAIN);
  });
  expect_works(ends);
  connection_ends closed;
  meet(
      [&] {
        CHECK(::recv(closed.client(), buffer.data(), 1, 0) == -1);
        CHECK(errno == EBADF);
      },
      [&] { closed.close_client(); });
  CHECK_FALSE(hook::has_marks());
}

TEST_CASE("a cancelled fiber goes on where it need not wait, and its connection is not marked for that") {
  connection_ends ends;
  two_ends pipe(pipe_ends);
  run_and_end(ending::cancel, [&] {
    CHECK(::read(pipe.in(), buffer.data(), 1) == -1);
    write_text(ends.client(), "x");
    write_text(ends.server(), "y");
    pollfd pfd{ends.client(), POLLIN, 0};
    CHECK(::poll(&pfd, 1, -1) == 1);
    CHECK(pfd.revents == POLLIN);
    CHECK(read_text(ends.client(), 1) == "y");
  });
  CHECK(read_text(ends.server(), 1) == "x");
  expect_works(ends);
}

TEST_CASE("a fiber that waits at a connection which another fiber's end marks gets no answer of it") {
  connection_ends ends;
  loop lp;
  auto ended = spawn(lp, hook::hooked([&] { CHECK(::recv(ends.client(), buffer.data(), 1, 0) == -1); }));
  spawn(lp, hook::hooked([&] {
          errno = 0;
          CHECK(::recv(ends.client(), buffer.data(), 1, 0) == -1);
          CHECK(errno == ECONNABORTED);
        }));
  spawn(lp, [&] {
    ended.cancel();
    await(yield());
    await(yield());
    ends.answer();
  });
  lp.run();
}

TEST_CASE("a call that must not wait marks its connection: while a kill unwinds") {
  for (const polling& each : polls) {
    CAPTURE(std::string(each.name));
    const others beside;
    connection_ends ends;
    struct polls_at_end {
      const polling& call;
      int fd;
      ~polls_at_end() { CHECK(call.call(fd, -1) == 1); }
    };
    loop lp;
    auto fiber = spawn(lp, hook::hooked([&] {
                         const polls_at_end guard{each, ends.client()};
                         static_cast<void>(await(sleep_for(1h)));
                       }));
    spawn(lp, [&] { fiber.kill(); });
    lp.run();
    ends.answer();
    expect_refused_everywhere(ends.client(), beside);
  }
}
