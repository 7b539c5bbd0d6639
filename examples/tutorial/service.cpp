#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

// --- the store: a server that knows words. A request is a line, an answer is a line.

const std::map<std::string, std::string, std::less<>> words{
    {"fugue", "a melody that flees from itself"}, {"hocket", "a melody that passes from voice to voice"}};

task<result<void>> serve_store(tcp::stream peer) {
  buffered_reader reader(peer);
  while (auto line = co_await or_return(within(60s, reader.read_line()))) {
    const auto word = words.find(*line);
    const std::string answer = (word == words.end() ? "unknown" : word->second) + "\n";
    co_await or_return(within(5s, peer.write_all(answer)));
  }
  co_return {};
}

// --- the client of the store: one connection, which a pool keeps and lends

class store_client {
 public:
  explicit store_client(tcp::stream peer) noexcept : peer_(std::move(peer)) {}

  task<result<std::string>> ask(std::string word) {
    state_ = connection_state::awaiting_answers;
    word += '\n';
    co_await or_return(peer_.write_all(word));
    buffered_reader reader(peer_);
    const auto line = co_await or_return(reader.read_line());
    if (!line) co_return failure(std::errc::connection_reset);
    std::string answer(*line);
    state_ = connection_state::idle;
    co_return answer;
  }

  connection_state state() const noexcept { return state_; }
  bool is_idle() noexcept {
    std::array<char, 1> byte;
    return state_ == connection_state::idle && !try_select(peer_.peek(byte));  // no byte, no end of the stream
  }

 private:
  tcp::stream peer_;
  connection_state state_ = connection_state::idle;
};

using store_pool = connection_pool<store_client>;

// --- the service: asks the store for each line of a client

task<result<std::string>> fetch_meaning(store_pool& store, std::string word) {
  auto lease = co_await or_return(store.acquire());
  co_return co_await lease->ask(std::move(word));
}

task<result<void>> serve_client(tcp::stream peer, store_pool& store) {
  buffered_reader reader(peer);
  while (co_await or_return(within(10min, reader.wait_for_message()))) {
    const auto line = co_await or_return(within(10s, reader.read_line()));
    if (!line) break;
    const std::string word(*line);
    const result<std::string> found = co_await within(5s, fetch_meaning(store, word));
    const std::string answer = word + ": " + (found ? *found : found.error().message()) + "\n";
    co_await or_return(within(5s, peer.write_all(answer)));
  }
  co_return {};
}

int main(int argc, char** argv) {
  signal_set ends{SIGTERM, SIGINT};
  runtime rt;
  auto store_server = tcp::serve(rt, "127.0.0.1:0", serve_store).value();
  const socket_address address = store_server.local_address();
  auto connect = [address]() -> task<result<store_client>> {
    co_return store_client(co_await or_return(tcp::connect(address)));
  };
  store_pool store(rt, connect, {.limit = 4, .name = "store"});
  auto server = tcp::serve(rt, argc > 1 ? argv[1] : "127.0.0.1:7000", serve_client, std::ref(store));
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message().c_str()), 1;

  service all(rt);
  all.add(*server, "service");
  all.add(store, "pool");
  all.add(store_server, "store");
  std::printf("listening at %s\n", server->local_address().to_string().c_str());
  std::fflush(stdout);
  const service_report report = all.run_until(ends, {.drain = 5s});
  std::fputs(report.to_string().c_str(), stdout);
  return report.exit_code();
}
