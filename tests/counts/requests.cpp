// A request on a kept connection: see operations.cpp. Both ends are sockets of the system, and the loop goes by its
// clock, which it does not look at: there are no timers.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/loop.hpp>

#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "still_loop.hpp"

using hocket::await, hocket::spawn, hocket::stream, hocket::task;
using std::size_t;

namespace counts {
namespace {

// Two ends of a TCP connection: after a short read on one no further read is tried.
struct connection {
  connection() {
    const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    must(::bind(door, address, size) == 0 && ::listen(door, 1) == 0, "no listener");
    must(::getsockname(door, address, &size) == 0, "no address");
    client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(::connect(client, address, size) == 0, "no connection");
    accepted = ::accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
    server = stream::adopt(accepted).value();
    ::close(door);
  }
  connection(const connection&) = delete;
  ~connection() { ::close(client); }

  // The system may deliver a request late: a turn that found nothing would count. So the loop turns when it is there.
  void request(hocket::loop& lp) {
    must(::send(client, "request", 7, 0) == 7, "no request was sent");
    pollfd arrived{accepted, POLLIN, 0};
    must(::poll(&arrived, 1, -1) == 1, "no request arrived");
    lp.poll();
    std::array<char, 64> answer{};
    must(::recv(client, answer.data(), answer.size(), 0) == 6, "no answer came");
  }

  int client = -1;
  int accepted = -1;
  stream server;
};

template <class Server>
void requests(Server serve, size_t k) {
  connection on;
  hocket::loop lp;
  spawn(lp, serve, std::ref(on.server));
  lp.poll();
  for (; k; --k) on.request(lp);
  on.server.close();
  lp.run();
}

task<> answer_in_task(stream& peer) {
  std::array<char, 64> buffer{};
  for (;;) {
    auto got = co_await peer.read_some(buffer);
    if (!got || *got == 0) break;
    auto put = co_await peer.write_all("answer");
    if (!put) break;
  }
}

task<> answer_borrowed_in_task(stream& peer) {
  for (;;) {
    auto got = co_await peer.read_borrowed();
    if (!got || got->empty()) break;
    auto put = co_await peer.write_all("answer");
    if (!put) break;
  }
}

void answer_in_fiber(stream& peer) {
  std::array<char, 64> buffer{};
  for (auto got = await(peer.read_some(buffer)); got && *got != 0; got = await(peer.read_some(buffer)))
    must(await(peer.write_all("answer")).has_value(), "an answer was not sent");
}

}  // namespace

void request_in_task(size_t k) { requests(&answer_in_task, k); }
void request_borrowed_in_task(size_t k) { requests(&answer_borrowed_in_task, k); }
void request_in_fiber(size_t k) { requests(&answer_in_fiber, k); }

}  // namespace counts
