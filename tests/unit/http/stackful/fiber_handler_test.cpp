// Handlers that run as fibers, and await in a plain handler.
#include "unit/http/router/served.hpp"

#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>

#include "support/death.hpp"

using namespace hocket;
using namespace hocket_test;
using namespace std::literals;

namespace {

// The response of a task on a loop, by virtual time.
http::response respond_in_time(const served& all, const char* target, duration limit = 1h) {
  manual_clock time;
  loop lp({.clock = &time});
  made_request holder(get(target));
  all.table().find(*holder);
  CHECK_FALSE(all.table().is_plain(*holder));
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

// An ordinary function that waits, at some depth.
int legacy_sum(int n) {
  await(sleep_for(10ms)).value();
  return n == 0 ? 0 : n + legacy_sum(n - 1);
}
http::response report(http::request& rq) {
  return http::text(std::to_string(legacy_sum(rq.query("n", 3).value())) + " for " + std::string(rq.path()));
}

}  // namespace

TEST_CASE("a handler in a fiber awaits at any depth, and uses its request") {
  http::router routes;
  routes.get("/report", {.run = http::in_fiber}, report);
  routes.get(
      "/argument", {.run = http::in_fiber},
      [](http::request&, const std::string& text) {
        await(sleep_for(10ms)).value();
        return http::text(text);
      },
      "an argument");
  const served all(std::move(routes));
  CHECK(text_of(respond_in_time(all, "/report?n=4")) == "10 for /report");
  CHECK(text_of(respond_in_time(all, "/argument")) == "an argument");
}

TEST_CASE("a handler in a fiber fails and throws like any other") {
  http::router routes;
  routes.get("/fails", {.run = http::in_fiber}, [](http::request&) -> result<http::response> {
    await(sleep_for(10ms)).value();
    return failure(http::errc::conflict);
  });
  routes.get("/throws", {.run = http::in_fiber}, [](http::request&) -> http::response {
    await(sleep_for(10ms)).value();
    throw std::runtime_error("a secret");
  });
  routes.get("/code", {.run = http::in_fiber},
             [](http::request&) -> http::response { throw std::system_error(make_error_code(http::errc::forbidden)); });
  const served all(std::move(routes));
  CHECK(respond_in_time(all, "/fails").status() == http::status::conflict);
  CHECK(respond_in_time(all, "/throws").status() == http::status::internal_server_error);
  CHECK(respond_in_time(all, "/code").status() == http::status::forbidden);
}

TEST_CASE("the deadline of a route, and of the connection, ends the waits of its fiber") {
  http::router routes;
  const auto handle = [](http::request&) -> result<http::response> {
    if (const auto slept = await(sleep_for(500ms)); !slept) return failure(slept.error());
    return http::text("slept");
  };
  routes.get("/short", {.run = http::in_fiber, .within = 50ms}, handle);
  routes.get("/long", {.run = http::in_fiber, .within = 1s}, handle);
  routes.get("/none", {.run = http::in_fiber}, handle);
  const served all(std::move(routes));
  CHECK(respond_in_time(all, "/short").status() == http::status::gateway_timeout);
  CHECK(text_of(respond_in_time(all, "/long")) == "slept");
  CHECK(text_of(respond_in_time(all, "/none")) == "slept");
  CHECK(respond_in_time(all, "/none", 50ms).status() == http::status::gateway_timeout);
}

TEST_CASE("a fiber has ended before its connection is cancelled or killed") {
  for (const bool kills : {false, true}) {
    CAPTURE(kills);
    bool is_destroyed = false, was_destroyed = false;
    struct noticing {
      bool& destroyed;
      ~noticing() { destroyed = true; }
    };
    http::router routes;
    routes.get("/", {.run = http::in_fiber}, [&is_destroyed](http::request& rq) -> http::response {
      noticing end{is_destroyed};
      const auto slept = await(sleep_for(1h));
      static_cast<void>(rq.path());  // the request is alive
      if (!slept) throw std::system_error(slept.error());
      return http::empty();
    });
    const served all(std::move(routes));
    manual_clock time;
    loop lp({.clock = &time});
    auto body = [&]() -> task<> {
      made_request holder(get("/"));
      all.table().find(*holder);
      struct check {
        const bool& destroyed;
        bool& result;
        ~check() { result = destroyed; }
      } at_end{is_destroyed, was_destroyed};
      task<http::response> running = all.table().respond(*holder);
      static_cast<void>(co_await std::move(running));
    };
    auto connection = spawn(lp, body);
    lp.run_for(0ms);
    CHECK_FALSE(is_destroyed);
    if (kills) lp.kill_all();
    else lp.cancel_all();
    lp.run_for(0ms);
    CHECK(lp.live() == 0);
    CHECK(was_destroyed);
  }
}

TEST_CASE("no exception of a fiber leaves the chain of a cancelled connection") {
  struct row {
    const char* name;
    void (*end)(const result<void>& slept);
  };
  const std::array rows{
      row{"the error of the wait", [](const result<void>& slept) { throw std::system_error(slept.error()); }},
      row{"cancelled", [](const result<void>&) { throw cancelled(); }},
      row{"another exception", [](const result<void>&) { throw std::logic_error("a secret"); }},
      row{"a number", [](const result<void>&) { throw 7; }},
      row{"none", [](const result<void>&) {}},
  };
  for (const row& each : rows) {
    CAPTURE(each.name);
    bool is_reached = false;
    http::router routes;
    routes.get("/", {.run = http::in_fiber}, [&](http::request&) -> http::response {
      const auto slept = await(sleep_for(1h));
      is_reached = true;
      each.end(slept ? result<void>{} : result<void>(failure(slept.error())));
      return http::empty();
    });
    const served all(std::move(routes));
    manual_clock time;
    loop lp({.clock = &time});
    made_request holder(get("/"));
    all.table().find(*holder);
    auto body = [&]() -> task<> {
      task<http::response> running = all.table().respond(*holder);
      static_cast<void>(co_await std::move(running));
    };
    auto connection = spawn(lp, body);
    lp.run_for(0ms);
    lp.cancel_all();
    lp.run_for(0ms);
    CHECK(is_reached);
    CHECK(lp.live() == 0);
    REQUIRE(connection.done());
    try {
      sync_wait(connection);
    } catch (const cancelled&) {
    }
  }
}

TEST_CASE("options of a fiber route reach the route") {
  http::router routes;
  const auto handle = [](http::request&) { return http::empty(); };
  routes.get("/", {.run = http::in_fiber, .body = http::streamed, .max_body = 9, .within = 2s}, handle);
  routes.post("/", {.run = http::in_fiber}, handle);
  routes.put("/", {.run = http::in_fiber, .fiber = {.name = "slow", .stack_size = 256 * 1024}}, handle);
  routes.patch("/", {.run = http::in_fiber}, handle);
  routes.delete_("/", {.run = http::in_fiber}, handle);
  routes.route(http::method::trace, "/", {.run = http::in_fiber}, handle);
  const served all(std::move(routes));
  made_request holder(get("/"));
  const auto& settings = all.table().find(*holder)->settings();
  CHECK(settings.body == http::streamed);
  CHECK(settings.max_body == 9);
  CHECK(settings.within == 2s);
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "TRACE"}) {
    made_request each(std::string(method) + " / HTTP/1.1\nHost: a");
    CHECK(all.table().find(*each) != nullptr);
    CHECK_FALSE(all.table().is_plain(*each));
  }
}

TEST_CASE("a wait of a plain handler is fatal, and the remedy names in_fiber") {
  http::router routes;
  event never;
  routes.get("/", [&never](http::request&) {
    static_cast<void>(await(never.wait()));
    return http::empty();
  });
  const served all(std::move(routes));
  const auto answer = [&] {
    loop lp;
    made_request holder(get("/"));
    all.table().find(*holder);
    auto body = [&]() -> task<> {
      static_cast<void>(all.table().respond_now(*holder));
      co_return;
    };
    static_cast<void>(spawn(lp, body));
    lp.run();
  };
  expect_fatal(answer, "await was called in a task");
  expect_fatal(answer, "{.run = http::in_fiber}");
}
