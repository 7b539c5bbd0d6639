// A server in a program that has an epoll loop of its own: hocket's loop is a guest on the same thread. The program's
// timer goes on as before, and between its events the guest's connections are served.
#include <hocket/stackless.hpp>
#include <hocket/net.hpp>
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

using namespace hocket;
using namespace std::chrono_literals;

task<result<void>> echo(tcp::stream peer) {
  for (;;) {
    const borrowed_bytes bytes = co_await or_return(peer.read_borrowed());
    if (bytes.empty()) co_return {};
    co_await or_return(peer.write_all(bytes));
  }
}

task<result<int>> ask(socket_address where, int& ticks, tcp::server& server) {
  auto peer = co_await or_return(tcp::connect(where));
  std::array<char, 5> answer;
  int answers = 0;
  while (ticks < 3) {
    co_await or_return(peer.write_all("hello"));
    co_await or_return(peer.read_exactly(answer));
    ++answers;
  }
  peer.close();
  co_await server.graceful_shutdown({.drain = 10s});
  co_return answers;
}

void add_to(int epoll, int number) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = number}};
  static_cast<void>(::epoll_ctl(epoll, EPOLL_CTL_ADD, number, &event));
}

int main() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC), timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec period{{0, 2'000'000}, {0, 2'000'000}};
  ::timerfd_settime(timer, 0, &period, nullptr);
  add_to(epoll, timer);
  int ticks = 0;

  descriptor_parker bell;
  loop guest({.parker = &bell});
  add_to(epoll, bell.descriptor());  // it ends the wait, also for the guest's I/O
  auto server = tcp::serve(guest, "127.0.0.1:0", echo).value();
  auto asked = spawn(guest, ask, server.local_address(), std::ref(ticks), std::ref(server));
  while (guest.live() != 0) {
    std::array<epoll_event, 8> events;
    const int ready = ::epoll_wait(epoll, events.data(), 8, poll_timeout(guest.begin_sleep(), guest.now()));
    guest.end_sleep();
    for (int i = 0; i < ready; ++i) {
      std::uint64_t expired = 0;
      if (events[static_cast<std::size_t>(i)].data.fd == timer && ::read(timer, &expired, sizeof expired) > 0) ++ticks;
    }
    guest.poll();
  }
  const auto answers = sync_wait(asked);
  std::printf("%d answers in %d ticks\n", answers.value_or(0), ticks);
  ::close(timer);
  ::close(epoll);
  return answers.value_or(0) > 0 ? 0 : 1;
}
