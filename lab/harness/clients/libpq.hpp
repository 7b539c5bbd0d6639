#pragma once
// PostgreSQL's libpq, blocking.
#include <postgresql/libpq-fe.h>

#include "clients.hpp"

namespace lab {

class client {
 public:
  explicit client(const client_workload& what) : what_(what), db_(PQconnectdb(place_of("HOCKET_POSTGRES"))) {
    if (PQstatus(db_) != CONNECTION_OK) fail(PQerrorMessage(db_));
    if (what.prepares()) prepare();
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { PQfinish(db_); }

  static void begin() {}

  void ask(std::size_t number) {
    const std::string text = std::to_string(number);
    const char* const parameter = text.c_str();
    PGresult* const got = what_.prepares()
                              ? PQexecPrepared(db_, "one", 1, &parameter, nullptr, nullptr, 0)
                              : PQexecParams(db_, sql_of(what_), 1, nullptr, &parameter, nullptr, nullptr, 0);
    if (PQresultStatus(got) != PGRES_TUPLES_OK || text != PQgetvalue(got, 0, 0)) fail("a wrong answer of PostgreSQL");
    PQclear(got);
  }

 private:
  void prepare() {
    PGresult* const done = PQprepare(db_, "one", sql_of(what_), 1, nullptr);
    if (PQresultStatus(done) != PGRES_COMMAND_OK) fail(PQerrorMessage(db_));
    PQclear(done);
  }

  const client_workload& what_;
  PGconn* const db_;
};

}  // namespace lab
