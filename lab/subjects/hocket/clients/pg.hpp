#pragma once
// hocket::pg. It has no prepared statements of its own: they are asked for by libpq's calls and poll_number().
#include <hocket/io/poll_numbers.hpp>
#include <hocket/pg/connection.hpp>

#include "../../../harness/clients/clients.hpp"

namespace lab {

using hocket::task;
using hocket::pg::connection;
using hocket::pg::is_idle;

inline task<connection> open(const client_workload& what) {
  connection made = (co_await hocket::pg::connect(place_of("HOCKET_POSTGRES"))).value();
  if (what.prepares()) {
    const auto done = co_await made.query("prepare one as select $1::int");
    if (!done) fail("a statement is not prepared");
  }
  co_return made;
}

inline task<hocket::result<hocket::pg::rows>> ask_prepared(PGconn* db, const char* parameter) {
  if (PQsendQueryPrepared(db, "one", 1, &parameter, nullptr, nullptr, 0) == 0) fail(PQerrorMessage(db));
  while (PQflush(db) > 0) (co_await hocket::poll_number(PQsocket(db), POLLOUT)).value();
  hocket::pg::rows found(nullptr, &PQclear);
  for (;;) {
    while (PQisBusy(db) != 0) {
      (co_await hocket::poll_number(PQsocket(db), POLLIN)).value();
      if (PQconsumeInput(db) == 0) fail(PQerrorMessage(db));
    }
    PGresult* const next = PQgetResult(db);
    if (!next) co_return found;
    found.reset(next);
  }
}

inline void check(const hocket::pg::rows& got, const std::string& number) {
  if (PQresultStatus(got.get()) != PGRES_TUPLES_OK || number != PQgetvalue(got.get(), 0, 0))
    fail("a wrong answer of PostgreSQL");
}

inline task<> ask(const client_workload& what, connection& db, const std::string& number) {
  if (what.prepares()) {
    const auto got = co_await ask_prepared(db.native(), number.c_str());
    check(got.value(), number);
  } else {
    const auto got = co_await db.query(sql_of(what), number);
    check(got.value(), number);
  }
}

}  // namespace lab
