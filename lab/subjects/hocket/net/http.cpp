// http::serve with a handler that is a task (hocket-http-task), or runs in a fiber (hocket-http-fiber). A plain handler
// is in readme.cpp. The answer is the same.
#include <hocket/hocket.hpp>
#include <hocket/http.hpp>

#include <csignal>
#include <utility>

#include "net/server.hpp"

namespace {

namespace http = hocket::http;

hocket::task<hocket::result<http::response>> hello_task(http::request&) { co_return http::text("hello\n"); }

http::response hello_fiber(http::request&) { return http::text("hello\n"); }

http::router routes_of(std::string_view system) {
  http::router routes;
  if (system.ends_with("-fiber")) routes.get("/", {.run = http::in_fiber}, hello_fiber);
  else routes.get("/", hello_task);
  return routes;
}

}  // namespace

int main(int argc, char** argv) {
  const lab::net::orders orders = lab::net::parse(argc, argv);
  hocket::runtime runtime({.workers = orders.workers});
  const auto address = hocket::socket_address::loopback_v4(0);
  auto server = http::serve(runtime, address, {}, routes_of(orders.system)).value();
  lab::net::ready(server.local_address().port());
  server.run_until(SIGTERM);
}
