// libpq under stress, in hooked fibers.
#include "hooked_stress.hpp"

#include <stress/clients/postgres_control.hpp>
#include <string_view>

using namespace client_tests;

namespace {

// The pool asks libpq.
struct libpq_connection {
  postgres_handle handle;

  hocket::connection_state state() const noexcept {
    const bool is_usable = PQstatus(handle.get()) == CONNECTION_OK && PQtransactionStatus(handle.get()) == PQTRANS_IDLE;
    return is_usable ? hocket::connection_state::idle : hocket::connection_state::broken;
  }
  bool is_idle() noexcept { return state() == hocket::connection_state::idle; }
};

class libpq_client : public hooked_workers {
 public:
  using connection = libpq_connection;

  explicit libpq_client(const server& db) : conninfo_(db.text()) {}

  auto connector() const {
    return hocket::hook::hooked([conninfo = conninfo_]() -> hocket::result<connection> {
      connection db{{PQconnectdb(conninfo.c_str()), &PQfinish}};
      if (!db.is_idle()) return lost_connection();
      PQsetNoticeProcessor(db.handle.get(), [](void*, const char*) {}, nullptr);  // ended by the server while idle
      return db;
    });
  }

  hocket::result<std::string> ask(connection& db, const stress_request& request) const {
    const std::string& token = request.token;
    switch (request.kind % 6) {
      case 0: return query(db, "select '" + token + "'");
      case 1: return query(db, "select pg_sleep(0.001), '" + token + "'");
      case 2: return query(db, "select repeat('x', 200000), '" + token + "'");
      case 3: return query_with_parameter(db, token);
      case 4: return query_in_transaction(db, token, true);
      default: return query_in_transaction(db, token, false);  // the pool closes the connection
    }
  }

 private:
  static hocket::result<std::string> value_of(const postgres_rows& rows) {
    switch (PQresultStatus(rows.get())) {
      case PGRES_TUPLES_OK: return last_value(rows.get());
      case PGRES_COMMAND_OK: return std::string(PQcmdStatus(rows.get()));
      default: break;
    }
    const char* const state = PQresultErrorField(rows.get(), PG_DIAG_SQLSTATE);
    if (!state || std::string_view(state) == "57P01") return lost_connection();  // 57P01: ended by the server
    return unexpected_error();
  }
  static hocket::result<std::string> query(connection& db, const std::string& text) {
    return value_of({PQexec(db.handle.get(), text.c_str()), &PQclear});
  }
  static hocket::result<std::string> query_with_parameter(connection& db, const std::string& token) {
    const char* const values[] = {token.c_str()};
    return value_of(
        {PQexecParams(db.handle.get(), "select $1 from pg_sleep(0.0005)", 1, nullptr, values, nullptr, nullptr, 0),
         &PQclear});
  }
  static hocket::result<std::string> query_in_transaction(connection& db, const std::string& token, bool commits) {
    const auto begun = query(db, "begin");
    if (!begun || *begun != "BEGIN") return begun;
    const auto answer = query(db, "select '" + token + "'");
    if (!answer || !commits) return answer;
    const auto ended = query(db, "commit");
    return !ended || *ended != "COMMIT" ? ended : answer;
  }

  const std::string conninfo_;
};

}  // namespace

TEST_CASE("hooked libpq: no query gets the answer of another, whatever ends the queries before it") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  libpq_client client(db);
  postgres_control control(db);
  run_stress(client, control);
}
