// A file server: a folder, with ranges, conditional requests and precompressed files (docs/http.md).
//
//   example_http_files public 127.0.0.1:8080
#include <hocket/http.hpp>
#include <hocket/net.hpp>
#include <hocket/stackless.hpp>
#include <csignal>
#include <cstdio>
#include <system_error>

using namespace hocket;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const char* const folder = argc > 1 ? argv[1] : ".";
  const char* const address = argc > 2 ? argv[2] : "127.0.0.1:8080";
  signal_set ends{SIGTERM, SIGINT};
  runtime rt;
  http::router routes;
  try {
    routes.mount("", http::files(folder, {.cache_control = "max-age=60"}));
  } catch (const std::system_error& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
  auto server = http::serve(rt, address, {.name = "files"}, std::move(routes));
  if (!server) return std::fprintf(stderr, "%s: %s\n", address, server.error().message().c_str()), 1;
  server->run_until(ends, {.drain = 10s});
}
