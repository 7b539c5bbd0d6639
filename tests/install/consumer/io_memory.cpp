#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net.hpp>
#include <hocket/stackless.hpp>

static hocket::task<hocket::result<void>> greet(hocket::memory_network& net) {
  auto peer = co_await hocket::or_return(net.connect("10.0.0.1:80"));
  co_await hocket::or_return(peer.write_all("hello"));
  co_return {};
}

int main() {
  hocket::manual_clock time;
  hocket::loop lp({.clock = &time});
  hocket::memory_network net({.clock = &time, .min_latency = std::chrono::hours(1)});
  auto door = net.listen("10.0.0.1:80").value();
  auto greeted = hocket::spawn(lp, greet, std::ref(net));
  lp.run();
  return hocket::sync_wait(greeted) && door.try_accept() ? 0 : 1;
}
