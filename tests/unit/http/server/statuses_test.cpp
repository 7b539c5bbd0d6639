// Statuses of handlers that are no final answer.
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

task<result<void>> end_at_once(http::upgraded_stream) { co_return {}; }

http::router routes() {
  http::router all;
  all.get("/status/{s}", [](http::request& rq) -> result<http::response> {
    const result<int> code = rq.path<int>("s");
    if (!code) return failure(code.error());
    return http::text("text").set_status(static_cast<http::status>(*code));
  });
  all.get("/task/{s}", [](http::request& rq) -> task<result<http::response>> {
    const int code = co_await or_return(rq.path<int>("s"));
    static_cast<void>(co_await sleep_for(1ms));
    co_return http::empty(static_cast<http::status>(code));
  });
  all.get("/upgrade/{s}", [](http::request& rq) {
    const auto code = static_cast<http::status>(rq.path<int>("s").value_or(0));
    return http::upgrade("echo", end_at_once).set_status(code);
  });
  all.get("/next", [](http::request&) { return http::text("next"); });
  return all;
}

const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";
std::string get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n";
}

}  // namespace

// An interim answer would leave the request without a final one, and each later answer would belong to the request
// before.
TEST_CASE("a status that is not final is answered with 500, and the connection goes on") {
  world w(routes());
  for (const char* kind : {"/status/", "/task/"}) {
    for (const int code : {0, 1, 99, 100, 101, 102, 103, 199, 1000, 9999, 65535}) {
      CAPTURE(kind);
      CAPTURE(code);
      const std::vector<answer> answers = read_answers(w.ask(get(kind + std::to_string(code)) + next));
      REQUIRE(answers.size() == 2);
      CHECK(answers[0].status == 500);
      CHECK(answers[0].field("content-length") == "0");
      CHECK(answers[1].body == "next");
    }
    for (const int code : {200, 299, 399, 451, 599, 999}) {
      const std::vector<answer> answers = read_answers(w.ask(get(kind + std::to_string(code)) + next));
      REQUIRE(answers.size() == 2);
      CHECK(answers[0].status == code);
    }
  }
}

TEST_CASE("an upgrade whose status was changed is answered with 500") {
  world w(routes());
  for (const int code : {0, 100, 103, 200, 403, 500, 1000}) {
    CAPTURE(code);
    const std::vector<answer> answers = read_answers(w.ask(get("/upgrade/" + std::to_string(code)) + next));
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].status == 500);
    CHECK(answers[0].field("connection") == "");
    CHECK(answers[1].body == "next");
  }
}
