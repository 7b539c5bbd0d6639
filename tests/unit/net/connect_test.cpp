// Connects that cannot end at once: at a unix socket with a full queue, to themselves, asked again on their way; and
// the local address that a connect names.
#include <hocket/core/yield.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/loopback.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

#define HOCKET_IO_KINDS                                                                                        \
  hocket_test::io_tasks, hocket_test::io_fibers, hocket_test::io_runtime_tasks, hocket_test::io_workers_tasks, \
      hocket_test::io_workers_fibers, hocket_test::io_migrants

namespace {

std::ptrdiff_t open_numbers() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// A listener whose queue has no room, and the connections in the queue.
struct full_queue {
  full_queue() {
    while (auto peer = sync_wait(within(0ms, tcp::connect(name)))) waiting.push_back(std::move(*peer));
  }
  std::string name = "unix:@hocket-full-queue-" + std::to_string(::getpid());
  tcp::listener listener = tcp::listener::bind(name, {.backlog = 1}).value();
  std::vector<tcp::stream> waiting;
};

}  // namespace

TEST_CASE_TEMPLATE("a connect to a unix socket whose queue is full waits for room", Kind, HOCKET_IO_KINDS) {
  constexpr int count = 5;
  full_queue queue;
  Kind world;
  std::atomic<int> connected{0};
  auto call = [&]() -> typename Kind::body {
    auto peer = co_await within(1h, tcp::connect(queue.name));
    if (!peer) queue.listener.close();  // ends the acceptor, too
    REQUIRE(peer.has_value());
    ++connected;
    std::array<char, 2> word{};
    auto returned = co_await peer->read_exactly(word);
    CHECK(returned == std::size_t{2});
  };
  auto accept = [&]() -> typename Kind::body {
    for (std::size_t i = 0; i != queue.waiting.size() + count; ++i) {
      auto peer = co_await queue.listener.accept();
      REQUIRE(peer.has_value());
      auto sent = co_await peer->write_all("hi");
      CHECK(sent.has_value());
    }
  };
  for (int i = 0; i < count; ++i) world.start(call);
  const int acceptor = world.start(accept);
  world.finish();
  CHECK(world.ended(acceptor) == fate::ended);
  CHECK(connected == count);
}

TEST_CASE_TEMPLATE("a connect that waits for room in a queue is timed out, cancelled and killed, and leaves nothing",
                   Kind, HOCKET_IO_KINDS) {
  full_queue queue;
  std::ptrdiff_t before = 0;
  {
    Kind world;
    std::atomic<int> begun{0};
    auto late = [&]() -> typename Kind::body {
      auto peer = co_await within(3ms, tcp::connect(queue.name));
      CHECK(peer.error_or({}) == std::errc::timed_out);
      ++begun;
      peer = co_await tcp::connect(queue.name);
      CHECK(peer.error_or({}) == std::errc::operation_canceled);
    };
    auto unwinds = [&]() -> typename Kind::body {
      ++begun;
      auto peer = co_await tcp::connect(queue.name);
      CHECK_MESSAGE(false, "the coroutine went on after its kill");
    };
    before = open_numbers();
    const int cancelled = world.start(late), killed = world.start(unwinds);
    auto direct = [&]() -> typename Kind::body {
      while (begun != 2) co_await yield();
      for (int i = 0; i < 100; ++i) co_await yield();
      world.cancel(cancelled);
      world.kill(killed);
    };
    world.start(direct);
    world.finish();
    CHECK(world.ended(cancelled) == fate::ended);
    CHECK(world.ended(killed) == fate::killed);
  }
  CHECK(open_numbers() <= before);
}

TEST_CASE_TEMPLATE("a connect that waits for room in a queue hears that the listener is closed", Kind,
                   HOCKET_IO_KINDS) {
  full_queue queue;
  Kind world;
  std::atomic<bool> begun{false};
  auto call = [&]() -> typename Kind::body {
    begun = true;
    auto peer = co_await tcp::connect(queue.name);
    CHECK(peer.error_or({}) == std::errc::connection_refused);
  };
  auto close = [&]() -> typename Kind::body {
    while (!begun) co_await yield();
    queue.listener.close();
  };
  const int caller = world.start(call);
  world.start(close);
  world.finish();
  CHECK(world.ended(caller) == fate::ended);
}

namespace {

script connect_once(const std::string& name, std::error_code& error) {
  auto peer = co_await tcp::connect(name);
  error = peer.error_or({});
}

}  // namespace

TEST_CASE("a connect to a full queue is an error on an executor without timers, which could not try again") {
  const full_queue queue;
  stepped_executor home;
  std::error_code error;
  script connects = connect_once(queue.name, error);
  connects.start(home);
  home.run();
  CHECK(error == std::errc::resource_unavailable_try_again);
}

// Where the destination is also the socket's own address, TCP connects the socket to itself, as it does by chance if it
// chooses the destination's port for the socket.
TEST_CASE("a connection to itself is refused, and its port is free again") {
  std::vector<const char*> hosts{"127.0.0.1:0"};
  if (has_v6()) hosts.insert(hosts.end(), {"[::1]:0", "[::ffff:127.0.0.1]:0"});
  for (const char* host : hosts) {
    CAPTURE(host);
    const socket_address own = tcp::listener::bind(host).value().local_address();
    const tcp::connect_options from_there{.local_address = own};
    static_cast<void>(sync_wait(tcp::connect(own, from_there)));  // the first wait opens what the thread waits with
    const std::ptrdiff_t before = open_numbers();
    for (int i = 0; i < 3; ++i) {
      CHECK(sync_wait(tcp::connect(own, from_there)).error_or({}) == std::errc::connection_refused);
    }
    CHECK(open_numbers() == before);
    auto listener = tcp::listener::bind(own).value();
    CHECK(sync_wait(tcp::connect(own)).has_value());
  }
}

TEST_CASE("a connection from a port to the same port of another address of this machine is none to itself") {
  auto listener = tcp::listener::bind("127.0.0.1:0").value();
  const socket_address at = listener.local_address();
  const tcp::connect_options from{.local_address = socket_address("127.0.0.2:0").with_port(at.port())};
  auto near = sync_wait(tcp::connect(at, from));
  REQUIRE(near.has_value());
  CHECK(near->local_address().port() == at.port());
}

TEST_CASE("a connect that is asked again on its way is on its way") {
  auto listener = tcp::listener::bind("127.0.0.1:0", {.backlog = 0}).value();
  std::vector<tcp::stream> others;
  while (auto peer = sync_wait(within(20ms, tcp::connect(listener.local_address()))))
    others.push_back(std::move(*peer));
  detail::connect_operation<tcp::stream> on_its_way(detail::system_sockets(), listener.local_address(), {}, true);
  REQUIRE_FALSE(on_its_way.try_now());
  REQUIRE(on_its_way.point());
  for (int i = 0; i < 3; ++i) {
    CHECK(on_its_way.side->record().carry_out(on_its_way) == detail::call_end::blocks);
    CHECK_FALSE(on_its_way.has_it());
  }
  on_its_way.resumed();
}

TEST_CASE("a connect that names its local address leaves the port to the system until it knows the destination") {
  auto listener = tcp::listener::bind("127.0.0.1:0").value();
  for (const bool has_port : {false, true}) {
    const socket_address any("127.0.0.3:0");
    const tcp::connect_options options{.local_address =
                                           has_port ? tcp::listener::bind(any).value().local_address() : any};
    auto near = sync_wait(tcp::connect(listener.local_address(), options)).value();
    CHECK(near.local_address().with_port(0) == any);
    CHECK(near.local_address().port() != 0);
    int late = -1;
    socklen_t size = sizeof late;
    REQUIRE(::getsockopt(near.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, &size) == 0);
    CHECK(late == (has_port ? 0 : 1));
    if (has_port) CHECK(near.local_address() == options.local_address);
  }
}
