// Clients behind proxies: fields and the PROXY protocol on connections.
#include "unit/http/server/world.hpp"

#include <string>

using namespace hocket_test;

namespace {

http::router routes() {
  http::router all;
  all.get("/client", [](http::request& rq) {
    const socket_address client = rq.client();
    return http::text(client.to_string() + " " + std::string(rq.scheme()));
  });
  return all;
}

std::string get(std::string_view lines) {
  return "GET /client HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + std::string(lines) + "\r\n";
}

// "" without an answer of 200.
std::string client_of(const http::serve_options& options, std::string_view bytes) {
  world w(routes(), options);
  const std::vector<answer> answers = read_answers(w.ask(bytes));
  return answers.size() == 1 && answers[0].status == 200 ? answers[0].body : "";
}

constexpr std::string_view everybody = "0.0.0.0/0 ::/0 unix";
const std::string signature("\r\n\r\n\0\r\nQUIT\n", 12);

}  // namespace

TEST_CASE("fields of a proxy count if the peer is trusted, and only the field that is chosen") {
  const std::string both =
      get("X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nForwarded: for=192.0.2.2;proto=http\r\n");
  CHECK(client_of({.trusted_proxies = everybody}, both) == "192.0.2.1:0 https");
  CHECK(client_of({.trusted_proxies = everybody, .proxies_set = http::proxy_field::forwarded}, both) ==
        "192.0.2.2:0 http");
  for (std::string_view trusted : {"", "192.0.2.77", "203.0.113.0/24"}) {
    const std::string client = client_of({.trusted_proxies = trusted}, both);
    CHECK(client.ends_with(" http"));
    CHECK(client.find("192.0.2.") == std::string::npos);
  }
}

TEST_CASE("lines of a field are one list") {
  const std::string lines = get("X-Forwarded-For: 192.0.2.66\r\nX-Forwarded-For: 192.0.2.1\r\n");
  CHECK(client_of({.trusted_proxies = "10.0.0.0/8 192.0.2.1"}, lines) == "192.0.2.66:0 http");
}

TEST_CASE("a trusted peer begins with a header of the PROXY protocol") {
  const http::serve_options options{.trusted_proxies = everybody, .proxy_protocol = true};
  CHECK(client_of(options, "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n" + get("")) == "192.0.2.1:56324 http");
  const std::string v2 =
      signature + std::string("\x21\x11\x00\x0C\xC0\x00\x02\x01\xC6\x33\x64\x02\x10\x00\x01\xBB", 16);
  CHECK(client_of(options, v2 + get("")) == "192.0.2.1:4096 http");
  CHECK_FALSE(client_of(options, "PROXY UNKNOWN\r\n" + get("")).empty());
}

TEST_CASE("a header of the PROXY protocol may arrive byte by byte") {
  world w(routes(), {.trusted_proxies = everybody, .proxy_protocol = true});
  const std::string bytes = "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n" + get("");
  const std::vector<answer> answers = read_answers(w.ask(bytes, {.piece = 1, .pause = 1ms}));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].body == "192.0.2.1:56324 http");
}

TEST_CASE("a missing or malformed PROXY header, and one of a peer that is not trusted, is not served") {
  const http::serve_options options{.trusted_proxies = everybody, .proxy_protocol = true};
  for (const std::string& bytes :
       {get(""), std::string("PROXY TCP4 x y 1 2\r\n") + get(""),
        std::string("PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n") + get(""), signature + std::string(4, 'x') + get(""),
        std::string(200, 'x'), std::string("\r\n") + get(""),
        "PROXY UNKNOWN " + std::string(200, 'x') + "\r\n" + get("")}) {
    CAPTURE(bytes);
    CHECK(client_of(options, bytes).empty());
  }
  const std::string sent = "PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n" + get("");
  CHECK(client_of({}, sent).empty());
  CHECK(client_of({.trusted_proxies = "203.0.113.1", .proxy_protocol = true}, sent).empty());
  CHECK_FALSE(client_of({.trusted_proxies = "203.0.113.1", .proxy_protocol = true}, get("")).empty());
}

TEST_CASE("a malformed list of trusted proxies is refused at the start") {
  hocket::runtime rt({.workers = 1});
  for (std::string_view list : {"10.0.0.0/33", "localhost", "10.0.0.1/8"}) {
    CAPTURE(list);
    const auto server = http::serve(rt, "127.0.0.1:0", {.trusted_proxies = list}, routes());
    REQUIRE_FALSE(server.has_value());
    CHECK(server.error() == std::errc::invalid_argument);
  }
}
