// A REST service on PostgreSQL: routes, a pool of connections, a key for changes, metrics and an orderly end
// (docs/http.md).
//
//   HOCKET_POSTGRES="host=/run/postgresql dbname=app" example_http_users 127.0.0.1:8080
//
// Without an address the program asks itself a few questions, checks the answers, and ends.
#include <hocket/hocket.hpp>
#include <hocket/http.hpp>
#include <hocket/net.hpp>
#include <hocket/pg/connection.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

using user_pool = connection_pool<pg::connection>;

// to_json() of the database writes the answer.
task<result<http::response>> get_user(http::request& rq, user_pool& pool) {
  const std::string id = std::to_string(co_await or_return(rq.path<int>("id")));
  auto lent = co_await or_return(within(1s, pool.acquire()));
  const pg::rows found =
      co_await or_return(within(1s, lent->query("select to_json(u)::text from http_users u where id = $1::int", id)));
  if (PQntuples(found.get()) == 0) co_return failure(http::errc::not_found);
  co_return http::json(std::string(PQgetvalue(found.get(), 0, 0)));
}

// A form with the field `name`.
task<result<http::response>> add_user(http::request& rq, user_pool& pool) {
  const std::string name(co_await or_return(rq.form("name")));
  if (name.empty() || name.size() > 100) co_return failure(http::errc::unprocessable_content);
  auto lent = co_await or_return(within(1s, pool.acquire()));
  const pg::rows created = co_await or_return(within(
      1s, lent->query("insert into http_users(name) values ($1) returning id, to_json(http_users)::text", name)));
  http::response answer = http::json(std::string(PQgetvalue(created.get(), 0, 1)));
  answer.set_status(http::status::created).set("Location", std::string("/users/") + PQgetvalue(created.get(), 0, 0));
  co_return answer;
}

std::optional<http::response> check_key(http::request& rq) {
  if (rq.header("X-Key") == "open") return std::nullopt;
  return http::empty(http::status::unauthorized).set("WWW-Authenticate", "Key");
}

// A statement that the server refuses is the service's fault (500); anything else of the database is "try again".
http::response answer_error(const http::request&, std::error_code error) {
  const bool is_ours = error.category() == http::error_category() || error == errc::deadline_exceeded;
  if (is_ours || error.category() == pg::category()) return http::default_error_response(error);
  return http::empty(http::status::service_unavailable).set("Retry-After", "1");
}

http::router make_routes(user_pool& pool) {
  http::router routes;
  routes.get("/users/{id}", {.within = 2s}, get_user, std::ref(pool));
  auto changes = routes.group("/users");
  changes.before(check_key);
  changes.post("", {.max_body = 1024, .within = 2s}, add_user, std::ref(pool));
  routes.get("/metrics", http::metrics);
  routes.set_error_table(answer_error);
  return routes;
}

task<result<void>> make_table(user_pool& pool) {
  auto lent = co_await or_return(within(5s, pool.acquire()));
  co_await or_return(lent->query("create table if not exists http_users(id serial primary key, name text not null)"));
  co_return {};
}

// --- a client that checks the service

task<result<std::string>> ask(socket_address where, std::string line, std::string body) {
  auto peer = co_await or_return(within(3s, tcp::connect(where)));
  const std::string request =
      line + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-Key: open\r\n" +
      "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
      body;
  co_await or_return(peer.write_all(request));
  co_return co_await within(3s, read_all(peer));
}

task<result<bool>> check(socket_address where) {
  const std::string created = co_await or_return(ask(where, "POST /users", "name=J%C3%BCrgen"));
  const std::size_t at = created.find("Location: ");
  if (!created.starts_with("HTTP/1.1 201") || at == created.npos) co_return false;
  const std::string line = "GET " + created.substr(at + 10, created.find("\r\n", at) - at - 10);
  const std::string found = co_await or_return(ask(where, line, ""));
  const std::string missing = co_await or_return(ask(where, "GET /users/0", ""));
  const std::string malformed = co_await or_return(ask(where, "GET /users/x", ""));
  std::puts(found.c_str());
  co_return found.starts_with("HTTP/1.1 200") &&
      found.find("J\xC3\xBCrgen") != found.npos&& missing.starts_with("HTTP/1.1 404") &&
      malformed.starts_with("HTTP/1.1 400");
}

int main(int argc, char** argv) {
  const char* const database = std::getenv("HOCKET_POSTGRES");
  if (!database) return std::puts("no server: set HOCKET_POSTGRES to a connection string"), 0;
  signal_set ends{SIGTERM, SIGINT};
  runtime rt;
  user_pool pool(rt, pg::connector(database), {.limit = 8, .max_idle = 60s, .name = "users"});
  if (const auto created = sync_wait(spawn(rt, make_table, std::ref(pool))); !created) return 1;
  auto server = http::serve(rt, argc > 1 ? argv[1] : "127.0.0.1:0", {.name = "users"}, make_routes(pool)).value();
  if (argc > 1) return server.run_until(ends, {.drain = 10s}).remaining == 0 ? 0 : 1;
  const auto right = sync_wait(spawn(rt, check, server.local_address()));
  sync_wait(server.graceful_shutdown({.drain = 1s}));
  return right && *right ? 0 : 1;
}
