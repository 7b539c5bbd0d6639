// The load of the page `net`: clients on one core, and what their server used meanwhile, read from outside.
//
//   net-load http|echo|churn|sink|udp|idle|paced|beside <connections> <size> <warm-up ms> <ms> <server's process>
//   <server's port>
//
// It connects, prints "connected" and waits for a line: so the lab can begin readings of its own before the load. Then
// come the warm-up and the time that counts. It prints "measured" and waits again, with all connections open, and
// prints a line for each measure, such as "rate 101337.5". idle has no time that counts: it prints "answered" when each
// connection was answered once, waits, and prints no measure.
#include <memory>

#include "net/clients.hpp"
#include "net/marks.hpp"
#include "net/server.hpp"
#include "net/slow_clients.hpp"

namespace {

using namespace lab::net;

constexpr std::size_t slow_connections = 200;  // of the kind `beside`: 50 for each phase

struct times {
  std::uint64_t warm_up_ns, ns;
};

kind kind_named(std::string_view name) {
  constexpr std::array<std::string_view, 8> names{"http", "echo", "churn", "sink", "udp", "idle", "paced", "beside"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<kind>(i);
  std::fputs("unknown load\n", stderr);
  std::exit(1);
}

void print(const char* measure, double value) { std::printf("%s %.4f\n", measure, value); }

// Returns when the lab answers. Ends the program if there is no lab.
void print_and_wait(const char* word) {
  std::puts(word);
  std::fflush(stdout);
  if (std::getchar() == EOF) std::exit(1);
}

struct report {
  outcome out;
  std::uint64_t warm_requests, cpu_ns, switches, took_ns;
  double alone_p99_ns = 0;   // of `beside`: without the slow clients, in as long a time before
  std::uint64_t closed = 0;  // connections of slow clients, by the server
};

void print(const report& measured) {
  const outcome& out = measured.out;
  const auto requests = static_cast<double>(out.requests);
  const double cpu_s = static_cast<double>(measured.cpu_ns) / 1e9, seconds = static_cast<double>(measured.took_ns) / 1e9;
  print("requests", static_cast<double>(measured.warm_requests) + requests);
  print("cpu", cpu_s / requests * 1e6);
  print("cpu_per_gb", cpu_s / static_cast<double>(out.bytes) * 1e9);
  print("rate", requests / seconds);
  print("bytes", static_cast<double>(out.bytes) / 1e6 / seconds);
  print("switches", static_cast<double>(measured.switches) / requests * 1e3);
  print("lost", static_cast<double>(out.lost));
  if (out.took.count() == 0) return;
  print("mean", out.took.mean() / 1e3);
  print("deviation", out.took.deviation() / 1e3);
  print("max", out.took.most() / 1e3);
  print("p50", out.took.quantile(500) / 1e3);
  print("p99", out.took.quantile(990) / 1e3);
  print("p999", out.took.quantile(999) / 1e3);
  if (measured.alone_p99_ns == 0) return;
  print("alone", measured.alone_p99_ns / 1e3);
  print("times", out.took.quantile(990) / measured.alone_p99_ns);
  print("closed", static_cast<double>(measured.closed));
}

report measure_period(clients& all, const times& how_long, pid_t server) {
  all.begin();
  all.run_until(now_ns() + how_long.warm_up_ns);
  const std::uint64_t warm = all.take().requests;
  const marks before = marks_of(server);
  const std::uint64_t began = now_ns();
  all.run_until(began + how_long.ns);
  const std::uint64_t ended = now_ns();
  const marks after = marks_of(server);
  all.drain();
  report measured{all.take(), warm, after.cpu_ns - before.cpu_ns, after.switches - before.switches, ended - began};
  if (measured.out.requests == 0) {
    std::fputs("nothing was answered in this time\n", stderr);
    std::exit(1);
  }
  return measured;
}

// The same period without and with slow clients, which have the time of the warm-up to connect and to fill buffers.
report measure_beside(clients& all, const times& how_long, pid_t server, unsigned port) {
  const double alone = measure_period(all, how_long, server).out.took.quantile(990);
  slow_clients slow(slow_connections, port);
  slow.connect_all();
  all.add(slow);
  report measured = measure_period(all, how_long, server);
  measured.alone_p99_ns = alone;
  measured.closed = slow.closed();
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fputs("usage: net-load <kind> <connections> <size> <warm-up ms> <ms> <server> <port>\n", stderr);
    return 1;
  }
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const kind does = kind_named(argv[1]);
  auto all = std::make_unique<clients>(load{does, number(2), number(3), static_cast<unsigned>(number(7))});
  all->connect_all();
  print_and_wait("connected");
  if (does == kind::idle) {
    all->begin();
    all->run_once();
    print_and_wait("answered");
    return 0;
  }
  const times periods{number(4) * 1'000'000, number(5) * 1'000'000};
  const auto server = static_cast<pid_t>(number(6));
  const report measured = does == kind::beside ? measure_beside(*all, periods, server, static_cast<unsigned>(number(7)))
                                           : measure_period(*all, periods, server);
  print_and_wait("measured");
  print(measured);
}
