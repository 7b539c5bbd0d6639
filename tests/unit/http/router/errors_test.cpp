// Errors and exceptions of handlers and steps, and the table that makes their responses.
#include "unit/http/router/served.hpp"

#include <hocket/base/error.hpp>
#include <hocket/core/or_throw.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/http/upgrade.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <array>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::literals;

namespace {

struct error_row {
  const char* name;
  std::error_code error;
  int status;
};
const std::vector<error_row> error_rows = {
    {"not found", http::errc::not_found, 404},
    {"the lowest", http::errc::bad_request, 400},
    {"too many", http::errc::too_many_requests, 429},
    {"unavailable", http::errc::service_unavailable, 503},
    {"the highest", http::errc::network_authentication_required, 511},
    {"500 by name", http::errc::internal_server_error, 500},
    {"a code of the category without a name", {599, http::error_category()}, 599},
    {"below the category", {399, http::error_category()}, 500},
    {"above the category", {600, http::error_category()}, 500},
    {"a deadline of ours", hocket::errc::deadline_exceeded, 504},
    {"a time-out of another kind", std::make_error_code(std::errc::timed_out), 500},
    {"a lost peer", hocket::errc::peer_lost, 500},
    {"a cancelled wait", hocket::errc::cancelled, 500},
    {"closed", hocket::errc::closed, 500},
    {"a system error", std::make_error_code(std::errc::no_such_file_or_directory), 500},
    {"404 of another category", {404, std::generic_category()}, 500},
    {"404 of the system", {404, std::system_category()}, 500},
};

result<http::response> fail(http::request&, std::error_code error) { return failure(error); }
http::response throw_error(http::request&, std::error_code error) { throw std::system_error(error, "a secret"); }
task<result<http::response>> fail_later(http::request&, std::error_code error) { co_return failure(error); }
task<http::response> throw_later(http::request&, std::error_code error) {
  throw std::system_error(error, "a secret");
  co_return http::empty();
}

void check_default(const http::response& answer, const error_row& row) {
  CAPTURE(row.name);
  CHECK(static_cast<int>(answer.status()) == row.status);
  CHECK(answer.error() == row.error);
  const std::string reason(http::reason_of(answer.status()));
  CHECK(text_of(answer) == (row.status == 500 ? "" : reason));
}

enum class thrown { logic, memory, number, cancellation };
void throw_one(thrown kind) {
  switch (kind) {
    case thrown::logic: throw std::logic_error("a secret");
    case thrown::memory: throw std::bad_alloc();
    case thrown::number: throw 7;
    case thrown::cancellation: throw cancelled();
  }
}

}  // namespace

TEST_CASE("the error table makes the response of an error and of an exception, of a plain function and of a task") {
  for (const error_row& row : error_rows) {
    http::router routes;
    routes.get("/fail", fail, row.error);
    routes.get("/throw", throw_error, row.error);
    routes.get("/fail-later", fail_later, row.error);
    routes.get("/throw-later", throw_later, row.error);
    const served all(std::move(routes));
    for (const char* target : {"/fail", "/throw", "/fail-later", "/throw-later"})
      check_default(all.respond("GET", target), row);
  }
}

TEST_CASE("an exception without a code is a 500 without its text") {
  const std::array<std::pair<thrown, std::error_code>, 4> rows{
      {{thrown::logic, std::make_error_code(std::errc::state_not_recoverable)},
       {thrown::memory, std::make_error_code(std::errc::not_enough_memory)},
       {thrown::number, std::make_error_code(std::errc::state_not_recoverable)},
       {thrown::cancellation, hocket::errc::cancelled}}};
  for (const auto& [kind, error] : rows) {
    http::router routes;
    routes.get("/now", [which = kind](http::request&) -> http::response {
      throw_one(which);
      return http::empty();
    });
    routes.get("/later", [which = kind](http::request&) -> task<http::response> {
      throw_one(which);
      co_return http::empty();
    });
    const served all(std::move(routes));
    for (const char* target : {"/now", "/later"}) {
      const http::response answer = all.respond("GET", target);
      CHECK(answer.status() == http::status::internal_server_error);
      CHECK(text_of(answer).empty());
      CHECK(answer.error() == error);
    }
  }
}

TEST_CASE("an error of a step before the handler is the response") {
  http::router routes;
  http::router_group a = routes.group("/a"), b = routes.group("/b"), c = routes.group("/c"), d = routes.group("/d");
  a.before([](http::request&) -> result<void> { return failure(http::errc::forbidden); });
  b.before([](http::request&) -> std::optional<http::response> {
    throw std::system_error(make_error_code(http::errc::forbidden));
  });
  c.before(
      [](http::request&) -> task<result<std::optional<http::response>>> { co_return failure(http::errc::forbidden); });
  d.before([](http::request&) -> task<> {
    throw std::system_error(make_error_code(http::errc::forbidden));
    co_return;
  });
  for (http::router_group group : {a, b, c, d}) group.get("/x", [](http::request&) { return http::text("reached"); });
  const served all(std::move(routes));
  for (const char* target : {"/a/x", "/b/x", "/c/x", "/d/x"}) {
    const http::response answer = all.respond("GET", target);
    CHECK(answer.status() == http::status::forbidden);
    CHECK(answer.error() == http::errc::forbidden);
  }
}

TEST_CASE("an error of a step after the handler replaces the response, and the next step sees it") {
  const auto last = [](http::request&, http::response& rs) {
    rs.set("X-Seen", std::to_string(static_cast<int>(rs.status())));
  };
  http::router routes;
  routes.after(last);
  http::router_group a = routes.group("/a"), b = routes.group("/b"), c = routes.group("/c"), d = routes.group("/d");
  a.after([](http::request&, http::response&) -> result<void> { return failure(http::errc::conflict); });
  b.after([](http::request&, http::response&) { throw std::system_error(make_error_code(http::errc::conflict)); });
  c.after([](http::request&, http::response&) -> task<result<void>> { co_return failure(http::errc::conflict); });
  d.after([](http::request&, http::response&) -> task<> {
    throw std::system_error(make_error_code(http::errc::conflict));
    co_return;
  });
  for (http::router_group group : {a, b, c, d}) group.get("/x", [](http::request&) { return http::text("reached"); });
  const served all(std::move(routes));
  for (const char* target : {"/a/x", "/b/x", "/c/x", "/d/x"}) {
    const http::response answer = all.respond("GET", target);
    CHECK(answer.status() == http::status::conflict);
    CHECK(answer.header("X-Seen") == "409");
  }
}

TEST_CASE("text of a peer that would end the head is a 500") {
  http::router routes;
  routes.get("/", [](http::request& rq) { return http::text("x").set("X-Echo", rq.query("q").value_or("")); });
  const served all(std::move(routes));
  CHECK(all.status("GET", "/?q=fine") == 200);
  for (const char* escape : {"%0d", "%0a", "%00", "%0d%0a", "a%0d%0aSet-Cookie:%20a=b", "%0D%0A%0D%0Abody", "%0a%20x",
                             "%7f", "%1b", "%08"}) {
    const http::response answer = all.respond("GET", "/?q=" + std::string(escape));
    CHECK(answer.status() == http::status::internal_server_error);
    CHECK(answer.header("X-Echo") == std::nullopt);
    CHECK(answer.error() == std::errc::invalid_argument);
  }
}

TEST_CASE("a replaced error table makes every error response") {
  int calls = 0;
  http::router routes;
  routes.get("/x", fail, http::errc::conflict);
  routes.set_error_table(
      [](const http::request& rq, std::error_code error, int& count, const std::string& prefix) {
        ++count;
        http::response answer = http::default_error_response(error);
        return http::text(prefix + std::string(rq.path())).set_status(answer.status());
      },
      std::ref(calls), "error at ");
  const served all(std::move(routes));
  const std::array<std::pair<const char*, int>, 2> rows{{{"/x", 409}, {"/absent", 404}}};
  for (const auto& [target, status] : rows) {
    CHECK(all.text("GET", target) == "error at " + std::string(target));
    CHECK(all.status("GET", target) == status);
  }
  CHECK(all.status("POST", "/x") == 405);
  CHECK(all.respond("POST", "/x").header("Allow") == "GET, HEAD, OPTIONS");
  made_request malformed;
  CHECK(all.table().refuse_now(*malformed, http::errc::bad_request).status() == http::status::bad_request);
  CHECK(calls > 4);
}

TEST_CASE("an error table that throws gives an empty 500") {
  http::router routes;
  routes.get("/x", fail, http::errc::conflict);
  routes.set_error_table([](const http::request&, std::error_code) -> http::response { throw 7; });
  const served all(std::move(routes));
  for (const char* target : {"/x", "/absent"}) {
    const http::response answer = all.respond("GET", target);
    CHECK(answer.status() == http::status::internal_server_error);
    CHECK(text_of(answer).empty());
  }
}

namespace {

task<http::response> wait_for(http::request&, duration time) {
  if (const auto slept = co_await sleep_for(time); !slept) throw std::system_error(slept.error());
  co_return http::text("slept");
}
task<result<http::response>> wait_as_result(http::request&, duration time) {
  co_await or_return(sleep_for(time));
  co_return http::text("slept");
}

http::response respond_in_time(const served& all, const char* target, duration limit = 1h) {
  manual_clock time;
  loop lp({.clock = &time});
  made_request holder(get(target));
  all.table().find(*holder);
  auto body = [&]() -> task<http::response> {
    task<http::response> running = all.table().respond(*holder);
    co_return co_await std::move(running);
  };
  auto answer = spawn(lp, {.within = limit}, body);
  for (int i = 0; i != 200 && !answer.done(); ++i) {
    lp.run_for(0ms);
    time.advance(10ms);
  }
  REQUIRE(answer.done());
  return sync_wait(answer);
}

}  // namespace

TEST_CASE("a handler's deadline ends its waits, and is a 504 unless the handler handles it") {
  http::router routes;
  for (const auto& [prefix, limit] :
       {std::pair{"/short", duration(50ms)}, std::pair{"/long", duration(1s)}, std::pair{"/none", duration::max()}}) {
    http::router_group group = routes.group(prefix);
    group.get("/throws", {.within = limit}, wait_for, duration(200ms));
    group.get("/returns", {.within = limit}, wait_as_result, duration(200ms));
    group.get("/handles", {.within = limit}, [](http::request&) -> task<http::response> {
      const auto slept = co_await sleep_for(200ms);
      co_return http::text(slept ? "slept" : "woken");
    });
  }
  const served all(std::move(routes));
  for (const char* target : {"/short/throws", "/short/returns"}) {
    const http::response answer = respond_in_time(all, target);
    CHECK(answer.status() == http::status::gateway_timeout);
    CHECK(answer.error() == hocket::errc::deadline_exceeded);
    CHECK(text_of(answer) == "Gateway Timeout");
  }
  CHECK(text_of(respond_in_time(all, "/short/handles")) == "woken");
  for (const char* prefix : {"/long", "/none"}) {
    for (const char* path : {"/throws", "/returns", "/handles"})
      CHECK(text_of(respond_in_time(all, (std::string(prefix) + path).c_str())) == "slept");
  }
}

TEST_CASE("a deadline of a handler's own wait is a 504") {
  http::router routes;
  event never;
  routes.get("/", [&never](http::request&) -> task<result<http::response>> {
    co_await or_return(within(20ms, never.wait()));
    co_return http::empty();
  });
  const served all(std::move(routes));
  CHECK(respond_in_time(all, "/").status() == http::status::gateway_timeout);
}

TEST_CASE("the cancellation of the connection passes through the chain, and a kill, too") {
  http::router routes;
  int after = 0;
  routes.after([&after](http::request&, http::response&) { ++after; });
  routes.get("/", [](http::request&) -> task<http::response> {
    co_await or_throw(sleep_for(1h));
    co_return http::empty();
  });
  const served all(std::move(routes));
  for (const bool kills : {false, true}) {
    manual_clock time;
    loop lp({.clock = &time});
    made_request holder(get("/"));
    all.table().find(*holder);
    bool reached = false;
    auto body = [&]() -> task<> {
      task<http::response> running = all.table().respond(*holder);
      static_cast<void>(co_await std::move(running));
      reached = true;
    };
    auto connection = spawn(lp, body);
    lp.run_for(0ms);
    if (kills) lp.kill_all();
    else lp.cancel_all();
    lp.run_for(0ms);
    CHECK(lp.live() == 0);
    CHECK_FALSE(reached);
  }
  CHECK(after == 0);
}

namespace {

http::response with_code(http::request&, int code) {
  return http::text("text").set_status(static_cast<http::status>(code));
}
task<http::response> with_code_later(http::request&, int code) {
  co_return http::text("text").set_status(static_cast<http::status>(code));
}
http::response open_echo(http::request&) {
  return http::upgrade("echo", [](http::upgraded_stream) -> task<result<void>> { co_return {}; });
}

}  // namespace

TEST_CASE("a response with a status that is not final is a 500") {
  struct row {
    int code;
    bool is_final;
  };
  constexpr row rows[] = {{0, false},   {1, false},   {99, false},  {100, false},  {101, false},
                          {102, false}, {103, false}, {199, false}, {1000, false}, {65535, false},
                          {200, true},  {204, true},  {205, true},  {299, true},   {304, true},
                          {404, true},  {599, true},  {600, true},  {999, true}};
  for (const auto& [code, is_final] : rows) {
    CAPTURE(code);
    for (const bool has_step : {false, true}) {
      http::router routes;
      routes.get("/now", with_code, code);
      routes.get("/later", with_code_later, code);
      if (has_step) routes.after([](http::request&, http::response&) {});
      const served all(std::move(routes));
      for (const char* target : {"/now", "/later"}) {
        const http::response answer = all.respond("GET", target);
        CHECK(static_cast<int>(answer.status()) == (is_final ? code : 500));
        CHECK(text_of(answer) == (is_final ? "text" : ""));
        CHECK(answer.error() == (is_final ? std::error_code() : std::make_error_code(std::errc::invalid_argument)));
      }
    }
  }
}

TEST_CASE("101 is the status of an upgrade, and no other is") {
  http::router routes;
  routes.get("/echo", open_echo);
  auto changed = routes.group("/changed");
  changed.get("", open_echo);
  changed.after([](http::request&, http::response& rs) { rs.set_status(http::status::ok); });
  const served all(std::move(routes));
  CHECK(all.status("GET", "/echo") == 101);
  CHECK(all.status("GET", "/changed") == 500);
}

TEST_CASE("an error table that makes an interim response gives an empty 500") {
  http::router routes;
  routes.set_error_table(
      [](const http::request&, std::error_code) { return http::response(http::status::early_hints); });
  const served all(std::move(routes));
  CHECK(all.status("GET", "/missing") == 500);
}
