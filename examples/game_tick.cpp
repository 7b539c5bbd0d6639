// A game server's tick: datagrams of many clients are taken in batches, and the tick sends each client the state, likewise.
#include <hocket/stackless.hpp>
#include <hocket/net.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

struct game {
  udp::socket door = udp::socket::bind("127.0.0.1:0").value();
  std::vector<socket_address> clients;
};

task<result<void>> take_moves(game& of) {
  std::vector<std::array<char, 64>> rooms(64);
  for (;;) {
    std::vector<udp::datagram> batch;
    for (auto& room : rooms) batch.emplace_back(mutable_buffer(room));
    const std::size_t n = co_await or_return(of.door.receive_batch(batch));
    for (std::size_t i = 0; i < n; ++i) of.clients.push_back(batch[i].address());
  }
}

task<result<void>> tick(game& of, std::size_t clients, duration every) {
  for (interval ticks(every); of.clients.size() < clients;) static_cast<void>(co_await ticks.tick());
  const std::string_view state = "the state of the world";
  std::vector<udp::datagram> out;
  for (const socket_address& to : of.clients) out.emplace_back(const_buffer(state), to);
  for (std::size_t sent = 0; sent != out.size();)
    sent += co_await or_return(of.door.send_batch(std::span(out).subspan(sent)));
  co_return {};
}

task<bool> play(socket_address server) {
  auto mine = udp::socket::connect(server);
  if (!mine) co_return false;
  std::array<char, 64> state;
  for (int tries = 0; tries < 100; ++tries) {  // a datagram may be lost
    auto moved = co_await mine->send("jump");
    auto got = co_await within(1s, mine->receive(state));
    if (moved && got) co_return got->size == 22;
  }
  co_return false;
}

int main() {
  constexpr std::size_t count = 200;  // as many as the descriptors of a test allow
  loop lp;
  game one;
  auto moves = spawn(lp, take_moves, std::ref(one));
  spawn(lp, tick, std::ref(one), count, 5ms);
  std::vector<join_handle<bool>> players;
  for (std::size_t i = 0; i < count; ++i) players.push_back(spawn(lp, play, one.door.local_address()));
  for (auto& player : players) lp.run_until(player);
  moves.cancel();
  lp.run();
  return std::all_of(players.begin(), players.end(), [](auto& player) { return sync_wait(player); }) ? 0 : 1;
}
