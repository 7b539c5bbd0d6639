// A service on PostgreSQL and Redis, in tasks: it answers a line "name <id>" with a name, from the cache or from the
// database. Each wait has a limit. If the database is away, the service answers so and continues. The pools connect, and
// repair or close a connection whose answer was not awaited.
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <hocket/pg/connection.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <hocket/redis/connection.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

struct backend {
  backend(runtime& rt, const char* database, int cache_port)
      : users(rt, pg::connector(database), {.limit = 8, .max_idle = 60s, .name = "users"}),
        cache(rt, redis::connector("127.0.0.1", cache_port), {.limit = 8, .max_idle = 60s, .name = "cache"}) {}
  connection_pool<pg::connection> users;
  connection_pool<redis::connection> cache;
};

// The name in the database; an empty string: no user has this number.
task<result<std::string>> find_user(backend& of, std::string id) {
  auto lent = co_await or_return(of.users.acquire());
  const pg::rows found = co_await or_return(lent->query("select 'user ' || $1::int where $1::int < 1000", id));
  co_return PQntuples(found.get()) == 0 ? std::string() : std::string(PQgetvalue(found.get(), 0, 0));
}

task<result<std::string>> name_of(backend& of, std::string id) {
  auto lent = co_await or_return(of.cache.acquire());
  const redis::reply cached = co_await or_return(lent->command("GET", "name:" + id));
  if (cached->type == REDIS_REPLY_STRING) co_return std::string(cached->str, cached->len);
  std::string name = co_await or_return(within(500ms, find_user(of, id)));
  if (!name.empty()) co_await or_return(redis::expect(co_await lent->command("SETEX", "name:" + id, "60", name)));
  co_return name;
}

task<result<void>> serve(tcp::stream peer, backend& of) {
  buffered_reader reader(peer);
  while (auto line = co_await or_return(within(30s, reader.read_line()))) {
    const std::string id(line->starts_with("name ") ? line->substr(5) : std::string_view());
    const auto name = co_await within(1s, name_of(of, id));
    const std::string answer = name ? (name->empty() ? "nobody" : *name) : "error: " + name.error().message();
    co_await or_return(peer.write_all(answer + "\n"));
  }
  co_return {};
}

// A client, which checks the answers.
task<result<bool>> try_it(socket_address where) {
  auto peer = co_await or_return(within(3s, tcp::connect(where)));
  buffered_reader reader(peer);
  bool right = true;
  const std::string asked[] = {"name 7", "name 7", "name 5000", "name x"};
  const std::string expected[] = {"user 7", "user 7", "nobody", "error: SQLSTATE 22P02"};
  for (int i = 0; i < 4; ++i) {
    co_await or_return(peer.write_all(asked[i] + "\n"));
    const auto line = co_await or_return(within(3s, reader.read_line()));
    right = right && line && *line == expected[i];
    if (line) std::printf("%s: %.*s\n", asked[i].c_str(), static_cast<int>(line->size()), line->data());
  }
  co_return right;
}

int main() {
  const char *const database = std::getenv("HOCKET_POSTGRES"), *const cache = std::getenv("HOCKET_REDIS");
  if (!database || !cache) {
    std::puts("no servers: set HOCKET_POSTGRES to a connection string and HOCKET_REDIS to a port");
    return 0;
  }
  runtime rt;
  backend of(rt, database, std::atoi(cache));
  auto server = tcp::serve(rt, "127.0.0.1:0", serve, std::ref(of)).value();
  const auto right = sync_wait(spawn(rt, try_it, server.local_address()));
  sync_wait(server.graceful_shutdown({.drain = 1s}));
  return right && *right ? 0 : 1;
}
