// The steps before and after a handler: their order, and the responses that they see.
#include "unit/http/router/served.hpp"

#include <hocket/core/yield.hpp>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>

using namespace hocket;
using namespace hocket_test;
using namespace std::literals;

namespace {

struct trace {
  std::string text;
};

void pass(http::request&, trace& log, const std::string& name) { log.text += name + " "; }
task<> pass_later(http::request&, trace& log, const std::string& name) {
  log.text += name + " ";
  co_await yield();
}
std::optional<http::response> pass_optional(http::request&, trace& log, const std::string& name) {
  log.text += name + " ";
  return std::nullopt;
}
task<result<std::optional<http::response>>> pass_result(http::request&, trace& log, const std::string& name) {
  log.text += name + " ";
  co_return std::nullopt;
}
result<void> pass_void(http::request&, trace& log, const std::string& name) {
  log.text += name + " ";
  return {};
}
std::optional<http::response> answer(http::request&, trace& log, const std::string& name) {
  log.text += name + " ";
  return http::text(name);
}
task<std::optional<http::response>> answer_later(http::request&, trace& log, const std::string& name) {
  log.text += name + " ";
  co_await yield();
  co_return http::text(name);
}
void leave(http::request&, http::response& rs, trace& log, const std::string& name) {
  log.text += name + ":" + std::to_string(static_cast<int>(rs.status())) + " ";
  rs.append("X-Left", name);
}
task<result<void>> leave_later(http::request&, http::response& rs, trace& log, const std::string& name) {
  log.text += name + ":" + std::to_string(static_cast<int>(rs.status())) + " ";
  co_await yield();
  rs.append("X-Left", name);
  co_return {};
}
http::response handle(http::request&, trace& log) {
  log.text += "handler ";
  return http::text("handled");
}
task<http::response> handle_later(http::request&, trace& log) {
  log.text += "handler ";
  co_await yield();
  co_return http::text("handled");
}

// The trace of one request. A plain chain runs twice in served::respond(), so the table is asked here.
std::string trace_of(const served& all, trace& log, std::string_view method, std::string_view target,
                     bool awaited = false) {
  log.text.clear();
  made_request holder(std::string(method) + " " + std::string(target) + " HTTP/1.1\nHost: a");
  all.table().find(*holder);
  const http::response rs = all.table().is_plain(*holder) && !awaited ? all.table().respond_now(*holder)
                                                                      : sync_wait(all.table().respond(*holder));
  std::string text = log.text + text_of(rs);
  return text;
}

}  // namespace

TEST_CASE("steps run from the outer group to the inner one, and back in reverse order") {
  for (const int kind : {0, 1, 2}) {  // all plain; tasks and plain functions mixed; all tasks
    CAPTURE(kind);
    trace log;
    http::router routes;
    const auto before = [&](http::router_group group, const char* name, bool waits) {
      if (waits) group.before(pass_later, std::ref(log), name);
      else group.before(pass, std::ref(log), name);
    };
    const auto after = [&](http::router_group group, const char* name, bool waits) {
      if (waits) group.after(leave_later, std::ref(log), name);
      else group.after(leave, std::ref(log), name);
    };
    http::router_group outer = routes.group("/outer"), inner = outer.group("/inner");
    if (kind == 2) inner.get("/x", handle_later, std::ref(log));
    else inner.get("/x", handle, std::ref(log));
    before(inner, "b5", kind == 2);
    before(routes, "b1", kind == 2);
    after(routes, "a1", kind > 0);
    before(outer, "b3", kind > 0);
    before(routes, "b2", kind > 0);
    after(inner, "a5", kind > 0);
    after(outer, "a3", kind == 2);
    after(outer, "a4", kind == 2);
    after(routes, "a2", kind == 2);
    before(outer, "b4", kind == 2);
    outer.get("/y", handle, std::ref(log));
    const served all(std::move(routes));
    CHECK(trace_of(all, log, "GET", "/outer/inner/x") ==
          "b1 b2 b3 b4 b5 handler a5:200 a4:200 a3:200 a2:200 a1:200 handled");
    CHECK(trace_of(all, log, "GET", "/outer/inner/x", true) ==
          "b1 b2 b3 b4 b5 handler a5:200 a4:200 a3:200 a2:200 a1:200 handled");
    CHECK(trace_of(all, log, "GET", "/outer/y") == "b1 b2 b3 b4 handler a4:200 a3:200 a2:200 a1:200 handled");
  }
}

TEST_CASE("a step of any type that returns no response continues the chain") {
  trace log;
  http::router routes;
  routes.before(pass, std::ref(log), "1");
  routes.before(pass_optional, std::ref(log), "2");
  routes.before(pass_void, std::ref(log), "3");
  routes.before(pass_later, std::ref(log), "4");
  routes.before(pass_result, std::ref(log), "5");
  routes.get("/", handle, std::ref(log));
  const served all(std::move(routes));
  CHECK(trace_of(all, log, "GET", "/") == "1 2 3 4 5 handler handled");
}

TEST_CASE("the first response ends the chain, and every step after the handler runs") {
  for (const bool waits : {false, true}) {
    CAPTURE(waits);
    trace log;
    http::router routes;
    routes.before(pass, std::ref(log), "b1");
    if (waits) routes.before(answer_later, std::ref(log), "early");
    else routes.before(answer, std::ref(log), "early");
    routes.before(pass, std::ref(log), "b3");
    routes.after(leave, std::ref(log), "a1");
    http::router_group inner = routes.group("/inner");
    inner.before(pass, std::ref(log), "b4");
    inner.after(leave, std::ref(log), "a2");
    inner.get("/x", handle, std::ref(log));
    const served all(std::move(routes));
    CHECK(trace_of(all, log, "GET", "/inner/x") == "b1 early a2:200 a1:200 early");
  }
}

TEST_CASE("without a route the steps after a handler of the router itself run, and none before") {
  for (const bool waits : {false, true}) {
    CAPTURE(waits);
    trace log;
    http::router routes;
    routes.before(pass, std::ref(log), "b1");
    if (waits) routes.after(leave_later, std::ref(log), "a1");
    else routes.after(leave, std::ref(log), "a1");
    routes.after(leave, std::ref(log), "a2");
    http::router_group inner = routes.group("/inner");
    inner.after(leave, std::ref(log), "a3");
    inner.get("/x", handle, std::ref(log));
    const served all(std::move(routes));
    CHECK(trace_of(all, log, "GET", "/absent") == "a2:404 a1:404 Not Found");
    CHECK(trace_of(all, log, "GET", "/inner/absent") == "a2:404 a1:404 Not Found");
    CHECK(trace_of(all, log, "POST", "/inner/x") == "a2:405 a1:405 Method Not Allowed");
    CHECK(trace_of(all, log, "OPTIONS", "/inner/x") == "a2:204 a1:204 ");
    CHECK(trace_of(all, log, "PURGE", "/inner/x") == "a2:501 a1:501 Not Implemented");
  }
}

TEST_CASE("the server's own responses pass the steps of the route, or of the router") {
  for (const bool waits : {false, true}) {
    CAPTURE(waits);
    trace log;
    http::router routes;
    routes.after(leave, std::ref(log), "a1");
    http::router_group inner = routes.group("/inner");
    if (waits) inner.after(leave_later, std::ref(log), "a2");
    else inner.after(leave, std::ref(log), "a2");
    inner.post("/x", handle, std::ref(log));
    const served all(std::move(routes));
    made_request known("POST /inner/x HTTP/1.1\nHost: a");
    all.table().find(*known);
    CHECK(all.table().is_plain_refusal(*known) == !waits);
    const http::response large = sync_wait(all.table().refuse(*known, http::errc::payload_too_large));
    CHECK(large.status() == http::status::payload_too_large);
    CHECK(large.header("X-Left") == "a2");
    CHECK(log.text == "a2:413 a1:413 ");
    log.text.clear();
    made_request malformed;  // its head did not parse
    CHECK(all.table().is_plain_refusal(*malformed));
    const http::response refused = all.table().refuse_now(*malformed, http::errc::bad_request);
    CHECK(refused.status() == http::status::bad_request);
    CHECK(log.text == "a1:400 ");
  }
}

TEST_CASE("a step stores an object that the handler reads") {
  struct user {
    std::string name;
  };
  http::router routes;
  routes.before([](http::request& rq) -> std::optional<http::response> {
    const auto name = rq.header("X-User");
    if (!name) return http::empty(http::status::unauthorized);
    rq.emplace<user>(user{std::string(*name)});
    return std::nullopt;
  });
  routes.get("/", [](http::request& rq) { return http::text(rq.get<user>()->name); });
  const served all(std::move(routes));
  CHECK(all.status("GET", "/") == 401);
  made_request holder("GET / HTTP/1.1\nHost: a\nX-User: ada");
  CHECK(text_of(all.respond(holder)) == "ada");
}

TEST_CASE("a step after the handler may replace the response") {
  http::router routes;
  routes.get("/", [](http::request&) { return http::text("old"); });
  routes.after([](http::request&, http::response& rs) { rs = http::json("{}"); });
  const served all(std::move(routes));
  CHECK(all.text("GET", "/") == "{}");
  CHECK(all.respond("GET", "/").header("Content-Type") == "application/json");
}
