// Waits that began at a connection before it was marked: the mark wakes them.
#include "connection_calls.hpp"

#include <marked_sockets.hpp>
#include <sys/epoll.h>
#include <thread>

using namespace hooked_tests;

namespace {

// Ends the waiter if the mark has not woken it after 30 s.
void expect_end(join_handle<>& waiter, const bool& is_over) {
  const time_point limit = deadline_after(now(), 30s);
  while (!is_over && now() < limit) await(yield());
  CHECK(is_over);
  waiter.cancel();
}

// waits() runs in a hooked fiber. Then the receive of another fiber at this number is cancelled; no byte arrives.
template <class Waits>
void end_beside(int fd, Waits waits) {
  bool is_over = false;
  loop lp;
  auto waiter = spawn(lp, hook::hooked([&] {
                        waits();
                        is_over = true;
                      }));
  auto ended = spawn(lp, hook::hooked([&] {
                       errno = 0;
                       CHECK(::recv(fd, buffer.data(), 1, 0) == -1);
                       CHECK(errno == ECONNABORTED);
                     }));
  spawn(lp, [&] {
    ended.cancel();
    expect_end(waiter, is_over);
  });
  lp.run();
}

int epoll_of(int fd, std::uint32_t events) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = events;
  REQUIRE(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
  return epoll;
}

// Calls of a plain thread that wait for input. They return after 30 s at the latest.
struct plain_wait {
  const char* name;
  int (*call)(int fd);
  int result;
};
const plain_wait plain_waits[] = {
    {"poll",
     [](int fd) {
       pollfd pfd{fd, POLLIN, 0};
       const int ready = ::poll(&pfd, 1, 30'000);
       CHECK((pfd.revents & POLLIN) != 0);
       return ready;
     },
     1},
    {"select",
     [](int fd) {
       return polled_by_select(fd, [](int end, fd_set* in, fd_set* out, fd_set* other) {
         timeval time{30, 0};
         return ::select(end, in, out, other, &time);
       });
     },
     1},
    {"epoll_wait",
     [](int fd) {
       const int epoll = epoll_of(fd, EPOLLIN);
       epoll_event event{};
       const int ready = ::epoll_wait(epoll, &event, 1, 30'000);
       ::close(epoll);
       return ready;
     },
     1},
    {"recv",
     [](int fd) {
       const timeval limit{30, 0};
       CHECK(::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
       return static_cast<int>(::recv(fd, buffer.data(), 1, 0));
     },
     0},
};

// Whether the thread sleeps in the kernel.
bool is_asleep(pid_t thread) {
  const int fd = ::open(("/proc/self/task/" + std::to_string(thread) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  const std::string text = read_text(fd);
  ::close(fd);
  return text.find(") S ") != std::string::npos;
}

}  // namespace

TEST_CASE("each hooked poll and select that waits at a connection is woken when another fiber's end marks it") {
  for (const polling& each : polls) {
    CAPTURE(std::string(each.name));
    const others beside;
    connection_ends ends;
    end_beside(ends.client(), [&] {
      CHECK(each.call(ends.client(), -1) == 1);
      expect_refused(ends.client(), beside);
    });
  }
}

TEST_CASE("a hooked poll that waits for room alone is woken when another fiber's end marks its connection") {
  connection_ends ends;
  ends.fill();
  end_beside(ends.client(), [&] {
    pollfd pfd{ends.client(), POLLOUT, 0};
    CHECK(::poll(&pfd, 1, -1) == 1);
    CHECK(pfd.revents == (POLLOUT | POLLERR));
  });
}

TEST_CASE("each hooked transfer that waits at a connection is refused when another fiber's end marks it") {
  for (const transfer& each : transfers) {
    CAPTURE(std::string(each.name));
    const others beside;
    write_text(beside.filled.out(), "some");
    connection_ends ends;
    if (!each.is_of_input) ends.fill();
    end_beside(ends.client(), [&] {
      errno = 0;
      const ssize_t moved = each.call(ends.client(), beside);
      CHECK(moved < static_cast<ssize_t>(buffer.size()));
      if (moved < 0) CHECK(errno == ECONNABORTED);
      if (each.is_of_input) CHECK(moved == -1);
    });
  }
}

TEST_CASE("a hooked epoll_wait is woken when another fiber's end marks a socket of its set") {
  connection_ends ends;
  const int epoll = epoll_of(ends.client(), EPOLLIN);
  end_beside(ends.client(), [&] {
    epoll_event event{};
    CHECK(::epoll_wait(epoll, &event, 1, -1) == 1);
    CHECK(::recv(ends.client(), buffer.data(), 1, 0) == -1);
    CHECK(errno == ECONNABORTED);
  });
  ::close(epoll);
}

TEST_CASE("a plain thread that waits for input of a connection is woken when a fiber's end marks it") {
  for (const plain_wait& each : plain_waits) {
    CAPTURE(std::string(each.name));
    connection_ends ends;
    std::atomic<pid_t> id{0};
    int result = -2;
    std::thread thread([&] {
      id = ::gettid();
      result = each.call(ends.client());
    });
    while (id == 0 || !is_asleep(id)) std::this_thread::yield();
    run_and_end(ending::cancel, [&] {
      pollfd pfd{ends.client(), POLLIN, 0};
      CHECK(::poll(&pfd, 1, -1) == 1);
    });
    thread.join();
    CHECK(result == each.result);
  }
}

TEST_CASE("a wait at an earlier copy of the number is woken, too, and a read there reports the end of the stream") {
  connection_ends ends;
  const int copy = ::dup(ends.client());
  end_beside(ends.client(), [&] {
    pollfd pfd{copy, POLLIN, 0};
    CHECK(::poll(&pfd, 1, -1) == 1);
    CHECK(::recv(copy, buffer.data(), 1, 0) == 0);
  });
  ::close(copy);
}

TEST_CASE("a poll and a connect that wait for a connecting socket are woken when another fiber's end marks it") {
  const full_listener full;
  const others beside;
  const auto expect = [&](auto waits) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_over = false;
    loop lp;
    auto ended = spawn(lp, hook::hooked([&] {
                         CHECK(::connect(fd, full.address(), local_listener::size) == -1);
                         CHECK(errno == ECONNABORTED);
                       }));
    auto waiter = spawn(lp, hook::hooked([&] {
                          waits(fd);
                          is_over = true;
                        }));
    spawn(lp, [&] {
      ended.cancel();
      expect_end(waiter, is_over);
    });
    lp.run();
    expect_refused(fd, beside);
    ::close(fd);
  };
  expect([](int fd) {
    pollfd pfd{fd, POLLOUT, 0};
    CHECK(::poll(&pfd, 1, -1) == 1);
    CHECK(pfd.revents == (POLLOUT | POLLERR));
  });
  expect([&](int fd) {
    errno = 0;
    CHECK(::connect(fd, full.address(), local_listener::size) == -1);
    CHECK(errno == ECONNABORTED);
  });
}

TEST_CASE("a connecting socket that a poll has marked is reported by the next poll of an ended fiber, too") {
  const full_listener full;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  CHECK(::connect(fd, full.address(), local_listener::size) == -1);
  run_and_end(ending::kill, [&] {
    for (int i = 0; i < 3; ++i) {
      pollfd pfd{fd, POLLOUT, 0};
      CHECK(::poll(&pfd, 1, -1) == 1);
      CHECK(pfd.revents == (POLLOUT | POLLERR));
    }
  });
  ::close(fd);
}

TEST_CASE("the peer of a marked TCP connection may write; the peer of a marked unix connection gets EPIPE") {
  connection_ends tcp;
  mark(tcp);
  write_text(tcp.server(), "more");
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  std::snprintf(place.sun_path + 1, sizeof place.sun_path - 1, "hocket-peer-%d", ::getpid());
  const auto* const address = reinterpret_cast<const sockaddr*>(&place);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
            client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(listener, address, sizeof place) == 0);
  REQUIRE(::listen(listener, 4) == 0);
  REQUIRE(::connect(client, address, sizeof place) == 0);
  const int server = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  run_and_end(ending::cancel, [&] { CHECK(::recv(client, buffer.data(), 1, 0) == -1); });
  CHECK(::send(server, "x", 1, MSG_NOSIGNAL) == -1);
  CHECK(errno == EPIPE);
  for (const int fd : {server, client, listener}) ::close(fd);
}
