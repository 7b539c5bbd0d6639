// Serves a request to itself, with the component http alone: without fibers.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/http.hpp>
#include <hocket/runtime/loop.hpp>

#include <array>
#include <string_view>

using namespace hocket;

namespace {

http::response hello(http::request&) { return http::text("hello"); }

task<result<bool>> ask(http::server& server) {
  tcp::stream peer = co_await or_return(tcp::connect(server.local_address()));
  co_await or_return(peer.write_all("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
  std::array<char, 1024> buffer;
  const std::size_t n = co_await or_return(peer.read_some(buffer));
  static_cast<void>(co_await server.graceful_shutdown());
  co_return std::string_view(buffer.data(), n).starts_with("HTTP/1.1 200 OK\r\n");
}

}  // namespace

int main() {
  loop lp;
  http::router routes;
  routes.get("/", hello);
  result<http::server> server = http::serve(lp, "127.0.0.1:0", {}, std::move(routes));
  if (!server) return 1;
  auto asked = spawn(lp, ask, std::ref(*server));
  lp.run_until(asked);
  const result<bool> answered = sync_wait(asked);
  return answered && *answered ? 0 : 1;
}
