// PostgreSQL's side of a stress (client_stress.hpp), by libpq on a plain thread.
#pragma once
#include "servers/server.hpp"
#include "stress/clients/stopped_process.hpp"
#include "stress/clients/stress_run.hpp"

#include <memory>
#include <postgresql/libpq-fe.h>

namespace hocket_test {

using postgres_handle = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using postgres_rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

// The last value of the first row; "": there is none.
inline std::string last_value(const PGresult* rows) {
  return PQntuples(rows) > 0 ? PQgetvalue(rows, 0, PQnfields(rows) - 1) : "";
}

class postgres_control {
 public:
  explicit postgres_control(const server& db) : db_(PQconnectdb(db.text()), &PQfinish) {
    REQUIRE(PQstatus(db_.get()) == CONNECTION_OK);
    PQsetNoticeProcessor(db_.get(), [](void*, const char*) {}, nullptr);  // a session that has ended before
  }

  void advance(random_engine&) {}
  void end_session(random_engine& random) { query("select pg_terminate_backend(" + session(random) + ")"); }
  // The process that accepts connections and cancel requests, or the process of a session.
  stopped_process stop(random_engine& random) {
    if (random.below(2) == 0) return {server_, ::getppid()};
    return {static_cast<pid_t>(std::atol(query(session(random)).c_str())), server_};
  }
  std::size_t sessions_in_doubt() {
    return std::strtoul(query("select count(*) from pg_stat_activity where state like 'idle in transaction%' or "
                              "(state = 'active' and pid <> pg_backend_pid() and backend_type = 'client backend')")
                            .c_str(),
                        nullptr, 10);
  }

 private:
  // A query for the process of a session that is not this one.
  static std::string session(random_engine& random) {
    return "(select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order "
           "by pid offset " +
           std::to_string(random.below(connections_at_most)) + " limit 1)";
  }
  std::string query(const std::string& text) {
    const postgres_rows rows{PQexec(db_.get(), text.c_str()), &PQclear};
    REQUIRE_MESSAGE(PQresultStatus(rows.get()) == PGRES_TUPLES_OK, PQerrorMessage(db_.get()));
    return last_value(rows.get());
  }

  static constexpr std::uint32_t connections_at_most = 8;
  const pid_t server_ = server_process("HOCKET_POSTGRES_PID");
  const postgres_handle db_;
};

}  // namespace hocket_test
