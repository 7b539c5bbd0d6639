// A connection's fiber that waits while gdb looks at it. The library calls its handler by a lambda.
#include <hocket/core/sync_wait.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>

#include <array>

using namespace hocket;

namespace {

bool waits = false;

// The empty statement keeps the call before it from being the end of the function.
[[gnu::noinline]] void read_request(tcp::stream& peer) {
  std::array<char, 8> request{};
  waits = true;
  static_cast<void>(await(peer.read_some(request)));
  asm volatile("");
}

// A type without linkage: so compilers give the library's lambda no name that tells where it is.
struct peer_handler {
  void operator()(tcp::stream peer) const {
    read_request(peer);
    asm volatile("");
  }
};

}  // namespace

extern "C" [[gnu::noinline]] void peer_waits() { asm volatile(""); }

int main() {
  loop lp({.name = "served"});
  auto server = tcp::serve(lp, "127.0.0.1:0", peer_handler{}).value();
  auto peer = sync_wait(tcp::connect(server.local_address())).value();
  while (!waits) lp.poll();
  peer_waits();
  peer.close();
  while (server.connections() != 0) lp.poll();
  return 0;
}
