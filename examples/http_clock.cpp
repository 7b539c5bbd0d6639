// A clock in the browser: server-sent events and the page that shows them (docs/http.md).
//
//   example_http_clock 127.0.0.1:8080       and open http://127.0.0.1:8080/ in several windows
//
// When the server ends, each stream says goodbye at once, and the page connects again after a second.
#include <hocket/http.hpp>
#include <hocket/net.hpp>
#include <hocket/stackless.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

using namespace hocket;
using namespace std::chrono_literals;

constexpr std::string_view page = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>hocket clock</title>
<style>body { font: 5rem monospace; text-align: center; margin-top: 20vh } small { font-size: 1rem }</style>
<p id="time">--:--:--</p>
<small id="state">connecting</small>
<script>
  const show = (id, text) => document.getElementById(id).textContent = text;
  const clock = new EventSource("/ticks");
  clock.addEventListener("tick", event => { show("time", event.data); show("state", "connected"); });
  clock.addEventListener("goodbye", event => show("state", event.data));
  clock.onerror = () => show("state", "connecting again");
</script>
</html>
)";

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 16> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%H:%M:%S", &parts)};
}

// One call for each client. It is cancelled when its client is gone.
task<result<void>> tick(http::event_writer& out) {
  for (int number = 1;; ++number) {
    const std::string now = time_of_day(), id = std::to_string(number);
    co_await or_return(out.send({.event = "tick", .data = now, .id = id, .retry = 1s}));
    if (co_await within(1s, out.drain_requested())) break;
  }
  co_return co_await out.send({.event = "goodbye", .data = "the server ends"});
}

http::response show_page(http::request&) { return http::html(page); }
http::response send_ticks(http::request&) { return http::event_stream(tick); }

int main(int argc, char** argv) {
  const char* const address = argc > 1 ? argv[1] : "127.0.0.1:8080";
  signal_set ends{SIGTERM, SIGINT};
  runtime rt;
  http::router routes;
  routes.get("/", show_page);
  routes.get("/ticks", send_ticks);
  auto server = http::serve(rt, address, {.name = "clock"}, std::move(routes));
  if (!server) return std::fprintf(stderr, "%s: %s\n", address, server.error().message().c_str()), 1;
  server->run_until(ends, {.drain = 10s});
}
