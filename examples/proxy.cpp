// A proxy: each connection is carried to another server, in both directions, as fast as the slower side reads.
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <functional>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

// What is read is written before more is read: so a reader that is slow makes the sender wait. A side that is silent
// for a minute ends both.
task<result<void>> carry_both(tcp::stream client, socket_address to) {
  auto server = co_await or_return(within(3s, tcp::connect(to)));
  timeout_stream patient_client(client, 60s), patient_server(server, 60s);
  co_await or_return(copy_bidirectional(patient_client, patient_server));
  co_return {};
}

// --- a test of it: a server that answers backwards, and a client, through the proxy

void answer_backwards(tcp::stream peer) {
  std::string words(11, ' ');
  while (await(peer.read_exactly(words)).has_value())
    static_cast<void>(await(peer.write_all(std::string(words.rbegin(), words.rend()))));
}

task<result<std::string>> ask(socket_address at) {
  auto peer = co_await or_return(tcp::connect(at));
  std::string answers;
  for (int i = 0; i < 100; ++i) {
    std::string answer(11, ' ');
    co_await or_return(peer.write_all("hello proxy"));
    co_await or_return(peer.read_exactly(answer));
    answers = answer;
  }
  co_return answers;
}

int main() {
  runtime rt({.workers = 2});
  auto server = tcp::serve(rt, "127.0.0.1:0", answer_backwards).value();
  auto proxy = tcp::serve(rt, "127.0.0.1:0", carry_both, server.local_address()).value();
  auto answer = sync_wait(spawn(rt, ask, proxy.local_address()));
  return answer == std::string("yxorp olleh") ? 0 : 1;
}
