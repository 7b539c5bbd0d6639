// A network in memory has no fds, and so no limit by them.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <sys/resource.h>
#include <vector>

using namespace hocket;

namespace {

task<> wait_idle(tcp::stream peer) { static_cast<void>(co_await peer.read_idle()); }

task<> connect_all(memory_network& net, std::vector<tcp::stream>& peers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) peers.push_back((co_await net.connect("10.0.0.1:80")).value());
}

}  // namespace

TEST_CASE("a server in memory has more connections than the process may have descriptors") {
  const auto end = hocket_test::end_of_child([] {
    const rlimit few{50, 50};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    manual_clock clock;
    loop lp({.clock = &clock});
    memory_network net({.clock = &clock});
    auto server = tcp::serve(lp, net.listen("10.0.0.1:80").value(), wait_idle).value();
    std::vector<tcp::stream> peers;
    auto connected = spawn(lp, connect_all, std::ref(net), std::ref(peers), std::size_t{500});
    lp.run_until(connected);
    while (server.connections() != 500) lp.run_for(std::chrono::milliseconds(1));
  });
  INFO(end.errors);
  CHECK(end.returned);
}
