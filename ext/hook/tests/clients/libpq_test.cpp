// PostgreSQL's libpq.
#include "clients.hpp"

#include <memory>
#include <postgresql/libpq-fe.h>

using namespace client_tests;

namespace {

using connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

connection connect(const server& db) { return {PQconnectdb(db.text()), &PQfinish}; }
rows query(const connection& db, const char* text) { return {PQexec(db.get(), text), &PQclear}; }

// Each value of a result, or the error.
std::string words_of(const connection& db, const rows& result) {
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return PQerrorMessage(db.get());
  std::string words;
  for (int row = 0; row < PQntuples(result.get()); ++row)
    for (int column = 0; column < PQnfields(result.get()); ++column)
      words.append(PQgetvalue(result.get(), row, column)).append(row % 8 == 7 ? "\n" : " ");
  return words;
}

}  // namespace

TEST_CASE("libpq: 200 sessions at once give what one on a thread gives") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  expect_equal_output(200, [&] {
    const connection own = connect(db);
    std::string all = words_of(own, query(own, "select n, repeat(md5(n::text), 20) from generate_series(1, 500) n"));
    all += words_of(own, query(own, "select pg_sleep(0.01), 'slept'"));
    all += words_of(own, query(own, "select * from no_such_table"));
    return all;
  });
}

TEST_CASE("libpq: a query that waits for a lock lets the holder of the lock run on the same thread") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  int acquired = 0;
  loop lp;
  auto holds = spawn(lp, hook::hooked([&] {
                       const connection own = connect(db);
                       query(own, "select pg_advisory_lock(1)");
                       std::vector<join_handle<>> others;
                       for (int i = 0; i < 20; ++i)
                         others.push_back(spawn(lp, hook::hooked([&] {
                                                  const connection mine = connect(db);
                                                  query(mine, "select pg_advisory_lock(1)");
                                                  ++acquired;
                                                })));
                       const auto waiting =
                           "select count(*) = 20 from pg_locks where locktype = 'advisory' and not granted";
                       while (words_of(own, query(own, waiting)) != "t ") {
                       }
                       CHECK(acquired == 0);
                       query(own, "select pg_advisory_unlock(1)");
                     }));
  lp.run();
  CHECK(acquired == 20);
}

// FAULTS: a session that ends in the middle leaks nothing.
TEST_CASE("libpq: a cancel, a deadline and a kill at each call of a session") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  const auto session = [&] {
    const connection own = connect(db);
    if (PQstatus(own.get()) != CONNECTION_OK) return false;
    const bool begun = PQresultStatus(query(own, "begin").get()) == PGRES_COMMAND_OK;
    const bool read = words_of(own, query(own, "select pg_sleep(0.002), repeat('x', 200000)")).size() > 200'000;
    const bool ended = PQresultStatus(query(own, "commit").get()) == PGRES_COMMAND_OK;
    return begun && read && ended;
  };
  end_everywhere(session, 10);
}

TEST_CASE("libpq: a server that disconnects in a transaction is an error") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  in_fiber([&] {
    const connection own = connect(db), other = connect(db);
    query(own, "begin");
    const std::string pid = std::to_string(PQbackendPID(own.get()));
    auto sleeps = spawn(hook::hooked([&] {
      CHECK(words_of(own, query(own, "select pg_sleep(60)")).find("terminating connection") != std::string::npos);
      CHECK(PQstatus(own.get()) == CONNECTION_BAD);
    }));
    const std::string waiting = "select wait_event = 'PgSleep' from pg_stat_activity where pid = " + pid;
    while (words_of(other, query(other, waiting.c_str())) != "t ") {
    }
    query(other, ("select pg_terminate_backend(" + pid + ")").c_str());
    await(sleeps);
  });
}

TEST_CASE("libpq: an unreachable server is an error") {
  in_fiber([] {
    const connection none{PQconnectdb("host=127.0.0.1 port=1 user=nobody connect_timeout=2"), &PQfinish};
    CHECK(PQstatus(none.get()) == CONNECTION_BAD);
    CHECK(std::string(PQerrorMessage(none.get())).find("refused") != std::string::npos);
  });
}
