// The server of README.md, on a port and a number of workers that the lab chooses, with a route for the lab's request.
// lab/test_labkit.py compares the handlers and the routes.
#include <hocket/hocket.hpp>
#include <hocket/http.hpp>

#include <csignal>
#include <string>

#include "net/server.hpp"

using namespace hocket;
using namespace std::chrono_literals;

http::response hello(http::request&) { return http::text("hello\n"); }  // runs without a coroutine

task<result<http::response>> wait(http::request& rq) {
  const int seconds = co_await or_return(rq.path<int>("seconds"));  // no number: 400
  co_await or_return(sleep_for(std::chrono::seconds(seconds)));
  co_return http::text("waited\n");
}

int main(int argc, char** argv) {
  const lab::net::orders orders = lab::net::parse(argc, argv);
  runtime rt({.workers = orders.workers});
  http::router routes;
  routes.get("/", hello);
  routes.get("/hello", hello);
  routes.get("/wait/{seconds}", {.within = 5s}, wait);
  routes.mount("/static", http::files("/usr/share/doc"));
  auto server = http::serve(rt, socket_address::loopback_v4(0), {}, std::move(routes)).value();
  lab::net::ready(server.local_address().port());
  server.run_until(SIGTERM);
}
