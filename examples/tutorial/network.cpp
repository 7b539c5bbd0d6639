#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

task<result<void>> echo_lines(tcp::stream peer) {
  buffered_reader reader(peer);
  while (auto line = co_await or_return(within(60s, reader.read_line()))) {
    const std::string answer = "echo " + std::string(*line) + "\n";
    co_await or_return(peer.write_all(answer));
  }
  co_return {};
}

task<result<int>> ask_ten_times(memory_network& net) {
  auto peer = co_await or_return(net.connect("10.0.0.1:80"));
  buffered_reader reader(peer);
  int right = 0;
  for (int i = 0; i < 10; ++i) {
    co_await or_return(peer.write_all("a question\n"));
    const auto line = co_await or_return(within(5s, reader.read_line()));
    if (line && *line == "echo a question") ++right;
    co_await sleep_for(30s);
  }
  co_return right;
}

bool passes(std::uint64_t seed) {
  manual_clock clock;
  loop lp({.clock = &clock});
  memory_network net({.seed = seed, .clock = &clock, .max_latency = 200ms, .short_reads = 100, .short_writes = 100});
  auto server = tcp::serve(lp, net.listen("10.0.0.1:80").value(), echo_lines).value();
  auto answers = spawn(lp, ask_ten_times, std::ref(net));
  lp.run_until(answers);
  return sync_wait(answers.join()) == 10;
}

int main() {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    if (passes(seed)) continue;
    std::printf("seed %d fails\n", static_cast<int>(seed));
    ++failures;
  }
  std::printf("100 networks, %d failures\n", failures);
  return failures;
}
