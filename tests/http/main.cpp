// The server that foreign clients, front ends and attackers test:
//
//   http_peers <folder> <address> [--trust LIST] [--forwarded] [--proxy-protocol] [--seconds N] [--workers N]
//
// --trust and --forwarded: the proxies, and whether they set Forwarded instead of X-Forwarded-For. --seconds: the limit
// of each wait for a peer, instead of the defaults. The server ends by SIGTERM or SIGINT, and prints its report. The
// exit code is 1 if a connection has not ended.
#include "handlers.hpp"

#include <hocket/fiber/spawn.hpp>
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

struct settings {
  http::serve_options options{.name = "peers"};
  unsigned workers = 0;
};

void set_seconds(http::limits& limits, duration seconds) {
  limits.first_byte = limits.head = limits.idle = limits.rate_grace = seconds;
}

bool parse(int count, char** arguments, settings& to) {
  for (int i = 3; i < count; ++i) {
    const std::string_view name = arguments[i];
    const char* const value = i + 1 < count ? arguments[i + 1] : "";
    if (name == "--forwarded") to.options.proxies_set = http::proxy_field::forwarded;
    else if (name == "--proxy-protocol") to.options.proxy_protocol = true;
    else if (name == "--trust") to.options.trusted_proxies = value, ++i;
    else if (name == "--seconds") set_seconds(to.options.limits, std::chrono::seconds(std::atoi(value))), ++i;
    else if (name == "--workers") to.workers = static_cast<unsigned>(std::atoi(value)), ++i;
    else return false;
  }
  return count >= 3;
}

}  // namespace

int main(int count, char** arguments) {
  settings chosen;
  if (!parse(count, arguments, chosen))
    return std::fputs("usage: http_peers <folder> <address> [options]\n", stderr), 2;
  signal_set ends{SIGTERM, SIGINT};
  runtime rt({.workers = chosen.workers});
  http_peers::item_store store;
  http::router routes;
  http_peers::add_routes(routes, store);
  routes.mount("/files", http::files(arguments[1]));
  auto server = http::serve(rt, std::string_view(arguments[2]), chosen.options, std::move(routes));
  if (!server) return std::fprintf(stderr, "%s: %s\n", arguments[2], server.error().message().c_str()), 1;
  std::printf("%s\n", server->local_address().to_string().c_str());
  std::fflush(stdout);
  const shutdown_report report = server->run_until(ends, {.drain = 10s});
  std::printf("%zu drained, %zu cancelled, %zu killed, %zu left\n", report.drained, report.cancelled, report.killed,
              report.remaining);
  return report.remaining == 0 ? 0 : 1;
}
