// Which handler answers which request: patterns, methods, groups, mounts, conflicts.
#include "unit/http/router/served.hpp"

#include <hocket/core/yield.hpp>

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/death.hpp"

using namespace hocket;
using namespace hocket_test;
using namespace std::literals;

namespace {

struct database {
  int users = 0;
};
http::response hello(http::request&) { return http::text("hello"); }
task<result<http::response>> get_user(http::request& rq, database& db) {
  const auto id = rq.path<int>("id");
  if (!id) co_return failure(id.error());
  ++db.users;
  co_return http::text("user " + std::to_string(*id));
}
http::response say(http::request&, const std::string& text) { return http::text(text); }

std::string text_of_conflict(http::router& routes, http::method method, const char* path) {
  try {
    routes.route(method, path, hello);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no conflict";
}

// A router in which each pattern answers with its own text.
served patterns(std::initializer_list<const char*> all) {
  http::router routes;
  for (const char* pattern : all) routes.get(pattern, say, pattern);
  return served(std::move(routes));
}

}  // namespace

TEST_CASE("handlers get the request and their stored arguments") {
  http::router routes;
  database db;
  routes.get("/users/{id}", get_user, std::ref(db));
  routes.get("/hello", hello);
  routes.get("/lambda", [](http::request&) { return http::text("lambda"); });
  routes.get("/say", say, "a literal");
  routes.get("/capture",
             [text = std::make_shared<std::string>("captured")](http::request&) { return http::text(*text); });
  const served all(std::move(routes));
  CHECK(all.text("GET", "/users/7") == "user 7");
  CHECK(db.users == 1);
  CHECK(all.status("GET", "/users/x") == 400);
  CHECK(all.text("GET", "/hello") == "hello");
  CHECK(all.text("GET", "/lambda") == "lambda");
  CHECK(all.text("GET", "/say") == "a literal");
  CHECK(all.text("GET", "/capture") == "captured");
}

TEST_CASE("each kind of result of a handler is a response") {
  http::router routes;
  routes.get("/response", [](http::request&) { return http::text("1"); });
  routes.get("/result", [](http::request&) -> result<http::response> { return http::text("2"); });
  routes.get("/failure", [](http::request&) -> result<http::response> { return failure(http::errc::conflict); });
  routes.get("/task", [](http::request&) -> task<http::response> { co_return http::text("3"); });
  routes.get("/task-of-result", [](http::request&) -> task<result<http::response>> { co_return http::text("4"); });
  routes.get("/task-of-failure",
             [](http::request&) -> task<result<http::response>> { co_return failure(http::errc::conflict); });
  const served all(std::move(routes));
  CHECK(all.text("GET", "/response") == "1");
  CHECK(all.text("GET", "/result") == "2");
  CHECK(all.status("GET", "/failure") == 409);
  CHECK(all.text("GET", "/task") == "3");
  CHECK(all.text("GET", "/task-of-result") == "4");
  CHECK(all.status("GET", "/task-of-failure") == 409);
}

namespace {

// The call of a handler makes it of a stored text.
class converted {
 public:
  converted(const std::string& text) : text_(text) {}
  converted(const converted&) = delete;
  ~converted() { text_ = "destroyed"; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
task<http::response> say_later(http::request&, const converted& text) {
  co_await yield();
  co_return http::text(text.text());
}
task<result<http::response>> say_result_later(http::request&, const converted& text) {
  co_await yield();
  co_return http::text(text.text());
}
task<std::optional<http::response>> say_before(http::request&, const converted& text) {
  co_await yield();
  co_return http::text(text.text());
}

}  // namespace

TEST_CASE("a temporary that the call makes of an argument lives until the task has ended") {
  http::router routes;
  routes.get("/task", say_later, "text"s);
  routes.get("/result", say_result_later, "text"s);
  http::router_group group = routes.group("/before");
  group.before(say_before, "text"s);
  group.get("", hello);
  const served all(std::move(routes));
  for (const char* target : {"/task", "/result", "/before"}) CHECK(all.text("GET", target) == "text");
}

TEST_CASE("a chain of plain functions needs no coroutine, any other does") {
  http::router routes;
  const auto waits = [](http::request&) -> task<http::response> { co_return http::empty(); };
  routes.get("/plain", hello);
  routes.get("/task", waits);
  http::router_group before = routes.group("/before");
  before.before([](http::request&) -> task<> { co_return; });
  before.get("/plain", hello);
  http::router_group after = routes.group("/after");
  after.after([](http::request&, http::response&) -> task<> { co_return; });
  after.get("/plain", hello);
  http::router_group steps = routes.group("/steps");
  steps.before([](http::request&) {});
  steps.after([](http::request&, http::response&) {});
  steps.get("/plain", hello);
  const served all(std::move(routes));
  struct row {
    const char* target;
    bool is_plain;
    bool is_plain_refusal;
  };
  for (const auto& [target, is_plain, is_plain_refusal] :
       {row{"/plain", true, true}, row{"/task", false, true}, row{"/before/plain", false, true},
        row{"/after/plain", false, false}, row{"/steps/plain", true, true}, row{"/absent", true, true}}) {
    CAPTURE(target);
    made_request holder(get(target));
    all.table().find(*holder);
    CHECK(all.table().is_plain(*holder) == is_plain);
    CHECK(all.table().is_plain_refusal(*holder) == is_plain_refusal);
  }
}

TEST_CASE("static text comes before a parameter, and a parameter before the rest") {
  const served all = patterns({"/", "/a", "/a/", "/{x}", "/{rest...}", "/a/b/c", "/a/{x}/c", "/a/{rest...}", "/{x}/b"});
  const std::array<std::array<const char*, 2>, 12> rows{{{"/", "/"},
                                                         {"/a", "/a"},
                                                         {"/a/", "/a/"},
                                                         {"/b", "/{x}"},
                                                         {"/a/b/c", "/a/b/c"},
                                                         {"/a/x/c", "/a/{x}/c"},
                                                         {"/a/x/d", "/a/{rest...}"},
                                                         {"/a/b", "/a/{rest...}"},
                                                         {"/x/b", "/{x}/b"},
                                                         {"/x/c", "/{rest...}"},
                                                         {"/%61", "/a"},
                                                         {"/a%2Fb", "/{x}"}}};
  for (const auto& [target, pattern] : rows) {
    CAPTURE(target);
    CHECK(all.text("GET", target) == pattern);
  }
}

TEST_CASE("parameters are decoded, and typed") {
  http::router routes;
  routes.get("/n/{n}", [](http::request& rq) -> result<http::response> {
    const auto n = rq.path<unsigned char>("n");
    if (!n) return failure(n.error());
    return http::text(std::to_string(*n));
  });
  routes.get("/t/{t}/{rest...}", [](http::request& rq) {
    return http::text(*rq.path<std::string>("t") + "|" + std::string(*rq.path<std::string_view>("rest")));
  });
  routes.get("/none/{x}", [](http::request& rq) -> result<http::response> {
    const auto y = rq.path<std::string>("y");
    if (!y) return failure(y.error());
    return http::text(*y);
  });
  const served all(std::move(routes));
  CHECK(all.text("GET", "/n/255") == "255");
  CHECK(all.text("GET", "/n/%32") == "2");
  for (const char* target : {"/n/256", "/n/-1", "/n/x", "/n/+1", "/n/1%20", "/n/1x", "/n/0x1"})
    CHECK(all.status("GET", target) == 400);
  CHECK(all.text("GET", "/t/a%2Fb%20c/d/e%2Ff") == "a/b c|d/e/f");
  CHECK(all.text("GET", "/t/x/") == "x|");
  CHECK(all.status("GET", "/none/1") == 500);
}

TEST_CASE("each verb adds a route of its method") {
  http::router routes;
  routes.get("/", say, "GET");
  routes.post("/", say, "POST");
  routes.put("/", say, "PUT");
  routes.patch("/", say, "PATCH");
  routes.delete_("/", say, "DELETE");
  routes.route(http::method::trace, "/", say, "TRACE");
  routes.route(http::method::other, "/", [](http::request& rq) { return http::text(rq.method_name()); });
  routes.post("/streamed", {.body = http::streamed}, say, "streamed");
  routes.put("/streamed", {.body = http::streamed}, say, "streamed");
  routes.patch("/streamed", {.body = http::streamed}, say, "streamed");
  routes.delete_("/streamed", {.body = http::streamed}, say, "streamed");
  routes.get("/streamed", {.body = http::streamed, .max_body = 7, .within = 3s}, say, "streamed");
  routes.route(http::method::trace, "/streamed", {.body = http::streamed}, say, "streamed");
  const served all(std::move(routes));
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"}) {
    CHECK(all.text(method, "/") == method);
    made_request holder(std::string(method) + " /streamed HTTP/1.1\nHost: a");
    const auto* const found = all.table().find(*holder);
    REQUIRE(found != nullptr);
    CHECK(found->settings().body == http::streamed);
    CHECK(found->settings().max_body == (method == "GET"sv ? 7 : 0));
    CHECK(found->settings().within == (method == "GET"sv ? duration(3s) : duration::max()));
    CHECK(found->pattern() == "/streamed");
  }
  made_request purge("PURGE / HTTP/1.1\nHost: a");
  CHECK(text_of(all.respond(purge)) == "PURGE");
  made_request holder(get("/"));
  CHECK(all.table().find(*holder)->settings().body == http::whole);
}

TEST_CASE("HEAD is answered by GET, and OPTIONS by the router, unless they have routes") {
  http::router routes;
  routes.get("/get", say, "GET");
  routes.get("/both", say, "GET");
  routes.route(http::method::head, "/both", say, "HEAD");
  routes.post("/post", say, "POST");
  routes.route(http::method::options, "/options", say, "OPTIONS");
  routes.get("/options", say, "GET");
  const served all(std::move(routes));
  CHECK(all.text("HEAD", "/get") == "GET");
  CHECK(all.text("HEAD", "/both") == "HEAD");
  CHECK(all.status("HEAD", "/post") == 405);
  CHECK(all.status("HEAD", "/absent") == 404);
  CHECK(all.status("OPTIONS", "/get") == 204);
  CHECK(all.respond("OPTIONS", "/get").header("Allow") == "GET, HEAD, OPTIONS");
  CHECK(all.respond("OPTIONS", "/post").header("Allow") == "POST, OPTIONS");
  CHECK(all.text("OPTIONS", "/options") == "OPTIONS");
  CHECK(all.status("OPTIONS", "/absent") == 404);
  CHECK(all.status("OPTIONS", "*") == 204);
  CHECK(all.respond("OPTIONS", "*").header("Allow").value_or("").find("POST") != std::string_view::npos);
}

TEST_CASE("a path without a route for the method is a 405 with Allow, an unknown method a 501, all others a 404") {
  http::router routes;
  routes.get("/a", hello);
  routes.put("/a", hello);
  routes.post("/{x}", hello);
  const served all(std::move(routes));
  CHECK(all.status("DELETE", "/a") == 405);
  const http::response refused = all.respond("DELETE", "/a");
  CHECK(refused.error() == http::errc::method_not_allowed);
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "OPTIONS"})
    CHECK(refused.header("Allow").value_or("").find(method) != std::string_view::npos);
  CHECK(refused.header("Allow").value_or("").find("DELETE") == std::string_view::npos);
  CHECK(all.status("POST", "/a") == 200);  // of the pattern /{x}
  CHECK(all.status("GET", "/b") == 405);
  CHECK(all.respond("GET", "/b").header("Allow") == "POST, OPTIONS");
  CHECK(all.status("GET", "/a/b") == 404);
  CHECK(all.status("GET", "/") == 404);
  CHECK(all.status("PURGE", "/a") == 501);
  CHECK(all.status("CONNECT", "example.org:80") == 501);
}

TEST_CASE("a router without routes answers 404") {
  const served all{http::router()};
  for (const char* target : {"/", "/a", "/a/b"}) CHECK(all.status("GET", target) == 404);
  CHECK(all.text("GET", "/") == "Not Found");
}

TEST_CASE("groups prepend their prefixes") {
  http::router routes;
  http::router_group api = routes.group("/api");
  http::router_group users = api.group("/users/{id}");
  http::router_group same = users.group("");
  api.get("", say, "api");
  api.get("/", say, "api/");
  users.get("/posts", [](http::request& rq) { return http::text("posts of " + *rq.path<std::string>("id")); });
  same.get("/same", say, "same");
  const served all(std::move(routes));
  CHECK(all.text("GET", "/api") == "api");
  CHECK(all.text("GET", "/api/") == "api/");
  CHECK(all.text("GET", "/api/users/7/posts") == "posts of 7");
  CHECK(all.text("GET", "/api/users/7/same") == "same");
  CHECK(all.status("GET", "/users/7/posts") == 404);
}

TEST_CASE("a malformed prefix of a group is refused") {
  http::router routes;
  for (const char* prefix : {"a", "a/", "/", "/a/", "//", "/a//", " /a/", "{x}", "admin", "\\a"})
    CHECK_THROWS_AS(static_cast<void>(routes.group(prefix)), std::invalid_argument);
}

TEST_CASE("a malformed pattern is refused, and changes nothing") {
  http::router routes;
  for (const char* pattern :
       {"", "a", "a/b", "/{", "/{}", "/{a", "/a}", "/{a}b", "/{a}/{a}", "/{a...}/b", "/{...}", "/x{a}", "/{{a}}"}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(routes.get(pattern, hello), std::invalid_argument);
  }
  http::router_group group = routes.group("/admin");
  for (const char* path : {"istrator", "a/b", "{id}", " /a"})
    CHECK_THROWS_WITH_AS(group.get(path, hello), doctest::Contains("begins without a slash"), std::invalid_argument);
  CHECK_THROWS_WITH_AS(routes.route(http::method::connect, "/a", hello), doctest::Contains("CONNECT has no path"),
                       std::invalid_argument);
  routes.get("/a", hello);
  group.get("", hello);
  const served all(std::move(routes));
  CHECK(all.status("GET", "/a") == 200);
  CHECK(all.status("GET", "/admin") == 200);
  CHECK(all.status("GET", "/administrator") == 404);
}

TEST_CASE("a second route for the same requests is refused by a text that names both") {
  http::router routes;
  routes.get("/users/{id}", hello);
  routes.get("/static", hello);
  routes.get("/files/{path...}", hello);
  routes.route(http::method::other, "/cache", hello);
  const std::array<std::array<const char*, 2>, 3> rows{
      {{"/users/{name}", "/users/{id}"}, {"/static", "/static"}, {"/files/{rest...}", "/files/{path...}"}}};
  for (const auto& [path, other] : rows) {
    CHECK(text_of_conflict(routes, http::method::get, path) ==
          "hocket: GET " + std::string(path) + " matches the same requests as GET " + other);
    CHECK(text_of_conflict(routes, http::method::post, path) == "no conflict");
  }
  CHECK(text_of_conflict(routes, http::method::other, "/cache") ==
        "hocket: a route of method::other at /cache matches the same requests as a route of method::other at /cache");
  CHECK(text_of_conflict(routes, http::method::get, "/users/me") == "no conflict");
  http::router_group users = routes.group("/users");
  CHECK_THROWS_WITH_AS(users.get("/{x}", hello), "hocket: GET /users/{x} matches the same requests as GET /users/{id}",
                       std::invalid_argument);
  const served all(std::move(routes));
  CHECK(all.status("GET", "/users/1") == 200);
  CHECK(all.status("GET", "/static") == 200);
}

TEST_CASE("what has add_to can be mounted, on the router and on a group") {
  struct files {
    std::string text;
    void add_to(http::router_group& routes, std::string_view prefix) && {
      routes.get(std::string(prefix) + "/{path...}", [content = std::move(text)](http::request& rq) {
        return http::text(content + std::string(*rq.path<std::string_view>("path")));
      });
    }
  };
  http::router routes;
  routes.mount("/static", files{"1:"});
  http::router_group group = routes.group("/group");
  group.mount("/static", files{"2:"});
  CHECK_THROWS_WITH_AS(group.mount("static", files{"3:"}), doctest::Contains("begins without a slash"),
                       std::invalid_argument);
  const served all(std::move(routes));
  CHECK(all.text("GET", "/static/a/b") == "1:a/b");
  CHECK(all.text("GET", "/group/static/c") == "2:c");
}

TEST_CASE("a moved router keeps its routes, its groups, and their references") {
  http::router routes;
  http::router_group group = routes.group("/g");
  group.get("/a", say, "a");
  http::router moved(std::move(routes));
  group.get("/b", say, "b");
  http::router assigned;
  assigned.get("/old", hello);
  assigned = std::move(moved);
  group.get("/c", say, "c");
  const served all(std::move(assigned));
  for (const char* name : {"a", "b", "c"}) CHECK(all.text("GET", "/g/"s + name) == name);
  CHECK(all.status("GET", "/old") == 404);
}

TEST_CASE("a router that was moved is not used again") {
  http::router routes;
  http::router taken(std::move(routes));
  expect_fatal([&] { routes.get("/", hello); }, "a router was used that was moved");
  expect_fatal([&] { static_cast<void>(routes.group("/a")); }, "a router was used that was moved");
  expect_fatal([&] { routes.before([](http::request&) {}); }, "a router was used that was moved");
  expect_fatal([&] { routes.set_error_table([](const http::request&, std::error_code) { return http::empty(); }); },
               "a router was used that was moved");
}
