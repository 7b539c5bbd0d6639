// A chat: what one client says is told to all others. A connection is one fiber, which waits for its client and for the
// others at the same time.
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>

using namespace hocket;
using namespace std::chrono_literals;

struct line {
  int from;
  std::string words;
};

struct room {
  broadcast<line> said{64};  // a client that reads too slowly misses lines
  std::atomic<int> members{0};
};

void talk(tcp::stream peer, room& in) {
  auto others = in.said.subscribe();
  const int me = ++in.members;
  std::array<char, 256> buffer;
  while (auto chosen = await(select(peer.readable(), others.receive()))) {
    if (chosen->index() == 0) {
      auto n = await(peer.read_some(buffer));  // at once, since it is readable
      if (!n || *n == 0) return;
      in.said.send({me, std::string(buffer.data(), *n)});
    } else if (const auto& one = chosen->get<1>(); one && one->from != me) {
      if (!await(within(5s, peer.write_all(one->words)))) return;
    }
  }
}

// --- a test of it: two clients, each of which hears what the other says, and not itself

std::string hear(tcp::stream& by, std::size_t size) {
  std::string words(size, ' ');
  sync_wait(by.read_exactly(words)).value();
  return words;
}

int main() {
  runtime rt({.workers = 2});
  room one;
  auto server = tcp::serve(rt, "127.0.0.1:0", talk, std::ref(one)).value();
  auto ann = sync_wait(tcp::connect(server.local_address())).value();
  auto bob = sync_wait(tcp::connect(server.local_address())).value();
  while (one.members != 2) std::this_thread::yield();
  sync_wait(ann.write_all("I am Ann")).value();
  const bool bob_hears = hear(bob, 8) == "I am Ann";
  sync_wait(bob.write_all("I am Bob")).value();
  return bob_hears && hear(ann, 8) == "I am Bob" ? 0 : 1;
}
