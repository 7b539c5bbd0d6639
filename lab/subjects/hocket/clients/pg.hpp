#pragma once
// hocket::pg.
#include <hocket/coro/or_return.hpp>
#include <hocket/pg/connection.hpp>

#include "../../../harness/clients/clients.hpp"

namespace lab {

using hocket::task;
using hocket::pg::connection;
using hocket::pg::is_idle;

inline task<hocket::result<connection>> open(const client_workload& what) {
  connection made = co_await or_return(hocket::pg::connect(place_of("HOCKET_POSTGRES")));
  if (what.prepares()) co_await or_return(made.prepare("one", "select $1::int"));
  co_return made;
}

inline void check(const hocket::pg::rows& got, const std::string& number) {
  if (PQresultStatus(got.get()) != PGRES_TUPLES_OK || number != PQgetvalue(got.get(), 0, 0))
    fail("a wrong answer of PostgreSQL");
}

inline task<> ask(const client_workload& what, connection& db, const std::string& number) {
  if (what.prepares()) {
    const auto got = co_await db.execute("one", number);
    check(got.value(), number);
  } else {
    const auto got = co_await db.query(sql_of(what), number);
    check(got.value(), number);
  }
}

}  // namespace lab
