// A network thread reads packets, many at a time, and wants a coroutine for each: it spawns them in a batch, so that a
// burst costs the workers' queue one entry and one wake-up, however many packets it has.
#include <hocket/stackless.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

struct packet {
  int connection;
  int bytes;
};

// What recvmmsg would give: so many packets at a time.
std::vector<packet> receive(int burst) {
  std::vector<packet> got;
  for (int i = 0; i < 500; ++i) got.push_back({i % 7, burst + i % 3});
  return got;
}

task<> handle(std::atomic<long>& bytes, packet what) {
  co_await yield();  // as if it asked a database
  bytes += what.bytes;
}

void network_thread(runtime& rt, std::atomic<long>& bytes) {
  for (int burst = 0; burst < 10; ++burst) {
    spawn_batch batch(rt);
    for (packet one : receive(burst)) spawn(batch, handle, std::ref(bytes), one);
  }  // here they are handed over
}

task<int> checksum(packet what) { co_return what.connection ^ what.bytes; }

// Who wants the results keeps the handles, and flushes before it awaits one.
task<int> checksum_of_burst() {
  std::vector<join_handle<int>> sums;
  spawn_batch batch;  // where this task itself was spawned
  for (packet one : receive(0)) sums.push_back(spawn(batch, checksum, one));
  batch.flush();
  int all = 0;
  for (auto& one : sums) all ^= co_await one;
  co_return all;
}

}  // namespace

int main() {
  std::atomic<long> bytes{0};
  int sum = 0, expected = 0;
  {
    runtime rt;
    std::thread network(network_thread, std::ref(rt), std::ref(bytes));
    sum = sync_wait(spawn(rt, checksum_of_burst));
    network.join();
    static_cast<void>(rt.shutdown({.drain = std::chrono::hours(1)}));
  }
  for (packet one : receive(0)) expected ^= one.connection ^ one.bytes;
  std::printf("%ld bytes, checksum %d\n", bytes.load(), sum);
  return bytes == 27490 && sum == expected ? 0 : 1;
}
