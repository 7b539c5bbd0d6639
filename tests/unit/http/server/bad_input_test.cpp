// Malformed requests on a connection: the requests before are answered, then the error, then the connection closes, and
// no byte behind the malformed request is parsed.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

// A body of a request that would be smuggled.
const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string good = "GET /good HTTP/1.1\r\nHost: a\r\n\r\n";

struct calls {
  int good = 0, smuggled = 0;
  std::string body;
};

http::router routes(calls& seen) {
  http::router all;
  all.get("/good", [&seen](http::request&) {
    ++seen.good;
    return http::text("good");
  });
  all.get("/smuggled", [&seen](http::request&) {
    ++seen.smuggled;
    return http::text("smuggled");
  });
  all.post("/plain", [&seen](http::request& rq) {
    seen.body = rq.body();
    return http::text("posted");
  });
  all.post("/task", [&seen](http::request& rq) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1ms));
    seen.body = rq.body();
    co_return http::text("posted");
  });
  all.post("/stream", {.body = http::streamed}, [](http::request& rq) -> task<result<http::response>> {
    std::array<char, 16> buffer;
    for (;;) {
      const std::size_t n = co_await or_return(rq.stream().read_some(buffer));
      if (n == 0) break;
    }
    co_return http::text("posted");
  });
  return all;
}

constexpr const char* targets[] = {"/plain", "/task", "/stream"};

std::string post(std::string_view target, std::string_view fields, std::string_view body) {
  return "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

// Sends a good request, the bad one, and what would be smuggled: in one write, byte by byte, and in two pieces.
void expect_refused(std::string_view bad, std::vector<int> statuses) {
  calls seen;
  world w(routes(seen));
  const std::string sent = good + std::string(bad) + smuggled;
  const sending all_at_once{};
  const sending ways[] = {all_at_once, {.piece = 1, .pause = 1ms}, {.piece = good.size() + bad.size(), .pause = 1ms}};
  for (const sending& way : ways) {
    CAPTURE(way.piece);
    CAPTURE(std::string(bad));
    seen = {};
    const conversation reply = w.talk(sent, way);
    const std::vector<answer> answers = read_answers(reply.bytes);
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].status == 200);
    CHECK(std::find(statuses.begin(), statuses.end(), answers[1].status) != statuses.end());
    CHECK(answers[1].field("connection") == "close");
    CHECK(seen.good == 1);
    CHECK(seen.smuggled == 0);
    CHECK(reply.time < 5s);
  }
}

void expect_each_refused(std::string_view fields, std::string_view body, std::vector<int> statuses = {400}) {
  for (const char* target : targets) expect_refused(post(target, fields, body), statuses);
}

}  // namespace

TEST_CASE("Content-Length with Transfer-Encoding is refused (CL.TE, TE.CL)") {
  const char* rows[] = {
      "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
      "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 5\r\nTransfer-Encoding: identity\r\n",
      "Content-Length: 5\r\nTransfer-Encoding: gzip, chunked\r\n",
      "Content-Length: 5\r\ntransfer-encoding: Chunked\r\n",
      "content-length: 5\r\nTRANSFER-ENCODING: chunked\r\n",
      "Content-Length: 5\r\nX: y\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nX: y\r\nContent-Length: 5\r\nX: z\r\n",
      "Content-Length: 5\r\nTransfer-Encoding:\tchunked\r\n",
      "Content-Length: 5\r\nTransfer-Encoding: chunked \r\n",
  };
  for (const char* fields : rows) expect_each_refused(fields, "0\r\n\r\n", {400, 501});
}

TEST_CASE("a Transfer-Encoding that is not a list that ends in chunked is refused (TE.0)") {
  const char* rows[] = {
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding: chunked, chunked\r\n",
      "Transfer-Encoding: chunked, gzip\r\n",
      "Transfer-Encoding: \"chunked\"\r\n",
      "Transfer-Encoding: chunked;q=1\r\n",
      "Transfer-Encoding : chunked\r\n",
      " Transfer-Encoding: chunked\r\n",
      "Transfer-Encoding: ch\x0bunked\r\n",
      "Transfer-Encoding: identity\r\n",
      "Transfer-Encoding: gzip\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
      "X: y\r\n Transfer-Encoding: chunked\r\n",
      "Transfer-Encoding:\r\n chunked\r\n",
      "Transfer\r\n-Encoding: chunked\r\n",
  };
  for (const char* fields : rows) expect_each_refused(fields, "0\r\n\r\n", {400, 501});
}

TEST_CASE("an odd Content-Length is refused") {
  const char* values[] = {"+5", "-0",   "0x5", "5, 5", "5,5", "5 5", "5;", "18446744073709551616", "5.0", "",
                          "\t", "5\t5", "٥",   "0b1",  "1e1", "5 a", "'5'"};
  for (const char* value : values) expect_each_refused("Content-Length: " + std::string(value) + "\r\n", "abcde");
  expect_each_refused("Content-Length: 5\r\nContent-Length: 5\r\n", "abcde");
  expect_each_refused("Content-Length: 5\r\nContent-Length: 6\r\n", "abcde");
}

TEST_CASE("a bare CR or LF in a head is refused (CVE-2023-30589)") {
  const char* rows[] = {
      "X: y\rContent-Length: 5\r\n",
      "X: y\nContent-Length: 5\r\n",
      "X: y\r\rContent-Length: 5\r\n",
      "X: \ry\r\n",
      "X: y\n\r\n",
      "\rX: y\r\n",
      "\nX: y\r\n",
      "X\r: y\r\n",
      "X\n: y\r\n",
      "X: y\r \r\n",
      "Content-Length: 5\r\nX: a\rb\r\n",
      "X:\n y\r\n",
  };
  for (const char* fields : rows) expect_each_refused(fields, "");
}

TEST_CASE("a bare LF in a chunk's line is refused (CVE-2025-22871)") {
  const char* rows[] = {
      "5\nabcde\r\n0\r\n\r\n",         "5\r\nabcde\n0\r\n\r\n",     "5\r\nabcde\r\n0\n\r\n",
      "5\r\nabcde\r\n0\r\n\n",         "5;a\nabcde\r\n0\r\n\r\n",   "5;a=b\nabcde\r\n0\r\n\r\n",
      "5\r\nabcde\r\n0;a\n\r\n",       "5 \nabcde\r\n0\r\n\r\n",    "5;a=\"\n\"\r\nabcde\r\n0\r\n\r\n",
      "5\r\nabcde\r\n0\r\nA: b\n\r\n", "\n5\r\nabcde\r\n0\r\n\r\n", "5\n\r\nabcde\r\n0\r\n\r\n",
  };
  for (const char* body : rows) expect_each_refused("Transfer-Encoding: chunked\r\n", body);
}

TEST_CASE("a bare CR in a chunk's line is refused") {
  const char* rows[] = {
      "5\rabcde\r\n0\r\n\r\n",
      "5\r\nabcde\r0\r\n\r\n",
      "5\r\nabcde\r\n0\r\r\n",
      "5\r\nabcde\r\n0\r\n\rx",
      "5;a\rb\r\nabcde\r\n0\r\n\r\n",
      "5;a=b\r\rabcde\r\n0\r\n\r\n",
      "\r5\r\nabcde\r\n0\r\n\r\n",
      "5\r\r\nabcde\r\n0\r\n\r\n",
      "5;a=\"\r\"\r\nabcde\r\n0\r\n\r\n",
      "5\r\nabcde\r\n0\r\nA: b\r\r\n\r\n",
  };
  for (const char* body : rows) expect_each_refused("Transfer-Encoding: chunked\r\n", body);
}

TEST_CASE("a malformed chunk size is refused") {
  const char* rows[] = {
      "+5\r\nabcde\r\n0\r\n\r\n",
      "-5\r\nabcde\r\n0\r\n\r\n",
      "0x5\r\nabcde\r\n0\r\n\r\n",
      " 5\r\nabcde\r\n0\r\n\r\n",
      "5g\r\nabcde\r\n0\r\n\r\n",
      "\r\nabcde\r\n0\r\n\r\n",
      ";a\r\nabcde\r\n0\r\n\r\n",
      "5 5\r\nabcde\r\n0\r\n\r\n",
      "00000000000000005\r\nabcde\r\n0\r\n\r\n",
      "10000000000000000\r\nabcde\r\n0\r\n\r\n",
      "5.\r\nabcde\r\n0\r\n\r\n",
      "5\r\nabcdef\r\n0\r\n\r\n",
      "6\r\nabcde\r\n0\r\n\r\n",
      "5\r\nabcde0\r\n\r\n",
  };
  for (const char* body : rows) expect_each_refused("Transfer-Encoding: chunked\r\n", body);
}

// CVE-2025-55315: one side ends the extension at another byte than the other.
TEST_CASE("a chunk extension in every form that spills is refused") {
  const char* rows[] = {
      "5;\nabcde\r\n0\r\n\r\n",
      "5;\rabcde\r\n0\r\n\r\n",
      "5;a\n\r\nabcde\r\n0\r\n\r\n",
      "5;a\r\r\nabcde\r\n0\r\n\r\n",
      "5;a=\"b\r\nabcde\r\n0\r\n\r\n",
      "5;a=\"b\n\"\r\nabcde\r\n0\r\n\r\n",
      "5;a=\"\\\r\n\"\r\nabcde\r\n0\r\n\r\n",
      "5;a=\x01\r\nabcde\r\n0\r\n\r\n",
      "5;\x7f\r\nabcde\r\n0\r\n\r\n",
      "5;a=\"b\"c\r\nabcde\r\n0\r\n\r\n",
      "5;;\r\nabcde\r\n0\r\n\r\n",
      "5a;=b\r\nabcde\r\n0\r\n\r\n",
  };
  for (const char* body : rows) expect_each_refused("Transfer-Encoding: chunked\r\n", body);
}

TEST_CASE("endless chunk extensions are refused (CVE-2023-39326)") {
  std::vector<std::string> bodies;
  bodies.push_back("5;" + std::string(20'000, 'a'));
  bodies.push_back("5;a=" + std::string(20'000, 'b'));
  bodies.push_back("5;a=\"" + std::string(20'000, 'b'));
  bodies.push_back("0;" + std::string(20'000, 'a'));
  std::string many, spread, spaces, quoted, names, mixed;
  for (int i = 0; i < 5'000; ++i) many += "1;abcd\r\nx\r\n";
  for (int i = 0; i < 1'000; ++i) spread += "1;" + std::string(40, 'a') + "\r\nx\r\n";
  for (int i = 0; i < 10'000; ++i) names += ";a";
  for (int i = 0; i < 10'000; ++i) quoted += ";a=\"\"";
  for (int i = 0; i < 3'000; ++i) mixed += ";a=b;c=\"d\"";
  bodies.insert(bodies.end(), {many, spread, "5" + names, "5" + quoted, "5" + mixed, "5" + std::string(20'000, ' ')});
  for (const std::string& body : bodies) {
    for (const char* target : targets) {
      calls seen;
      world w(routes(seen));
      const std::string reply = w.ask(good + post(target, "Transfer-Encoding: chunked\r\n", body) + smuggled);
      CAPTURE(body.substr(0, 20));
      CHECK(statuses_of(reply) == std::vector<int>{200, 400});
      CHECK(seen.smuggled == 0);
    }
  }
}

// 0.CL: an early answer lets one side take the body for the next request.
TEST_CASE("an expectation with a malformed length is refused, with and without the body") {
  const char* lengths[] = {"Content-Length: +50\r\n",
                           "Content-Length: 50\r\nContent-Length: 50\r\n",
                           "Content-Length: 50, 50\r\n",
                           "Content-Length: 0x32\r\n",
                           "Content-Length : 50\r\n",
                           "Content-Length: 50\r\nTransfer-Encoding: chunked\r\n",
                           " Content-Length: 50\r\n",
                           "Content-Length:\r\n 50\r\n",
                           "Content-Length: -50\r\n",
                           "Content-Length: 5 0\r\n",
                           "Content-Length: 99999999999999999999\r\n"};
  for (const char* length : lengths) {
    for (const char* expect : {"Expect: 100-continue\r\n", "Expect: 100-Continue\r\n"}) {
      expect_each_refused(std::string(expect) + length, "");
      expect_each_refused(length + std::string(expect), "");
    }
  }
}

TEST_CASE("a malformed request line is refused") {
  const char* rows[] = {"GET  /a HTTP/1.1\r\nHost: a\r\n\r\n",
                        "GET /a  HTTP/1.1\r\nHost: a\r\n\r\n",
                        " GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
                        "GET /a HTTP/1.1 \r\nHost: a\r\n\r\n",
                        "GET /a\r\nHost: a\r\n\r\n",
                        "GET\t/a HTTP/1.1\r\nHost: a\r\n\r\n",
                        "G(T /a HTTP/1.1\r\nHost: a\r\n\r\n",
                        "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
                        "GET /a http/1.1\r\nHost: a\r\n\r\n",
                        "GET /a HTTP/1.10\r\nHost: a\r\n\r\n",
                        "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
                        "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
                        "GET /a HTTP/1.1\r\n\r\n",
                        "GET /a HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
                        "GET /a HTTP/1.1\r\nHost: a b\r\n\r\n",
                        "GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n"};
  for (const char* bad : rows) expect_refused(bad, {400});
  expect_refused("GET /a HTTP/2.0\r\nHost: a\r\n\r\n", {505});
}

TEST_CASE("requests behind an ordinary error are answered") {
  calls seen;
  world w(routes(seen));
  const std::string reply =
      w.ask(good + "GET /none HTTP/1.1\r\nHost: a\r\n\r\n" + "DELETE /good HTTP/1.1\r\nHost: a\r\n\r\n" +
            "BREW /good HTTP/1.1\r\nHost: a\r\n\r\n" + good);
  CHECK(statuses_of(reply) == std::vector<int>{200, 404, 405, 501, 200});
  CHECK(seen.good == 2);
}

TEST_CASE("an endless head is refused, and takes bounded memory") {
  calls seen;
  world w(routes(seen));
  for (const char* begin : {"GET /", "GET /good HTTP/1.1\r\nHost: a\r\nX: ", "GET /good HTTP/1.1\r\nX", "GET"}) {
    CAPTURE(begin);
    std::size_t sent = 0;
    const std::string reply = w.run([](world& in, std::string_view first, std::size_t& count) -> task<std::string> {
      tcp::stream peer = co_await in.connect();
      static_cast<void>(co_await peer.write_all(first));
      const std::string piece(65536, 'a');
      for (; count < (std::size_t{1} << 30); count += piece.size()) {
        const result<std::size_t> written = co_await within(1s, peer.write_all(piece));
        if (!written) break;
      }
      std::vector<char> buffer(65536);
      const result<std::size_t> n = co_await within(30s, peer.read_some(buffer));
      co_return n ? std::string(buffer.data(), *n) : std::string();
    }(w, begin, sent));
    CHECK(sent < (std::size_t{1} << 21));
    CHECK_MESSAGE((reply.starts_with("HTTP/1.1 4") || reply.starts_with("HTTP/1.1 501")), reply);
  }
}
