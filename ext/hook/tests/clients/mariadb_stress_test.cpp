// libmariadb under stress, in hooked fibers.
#include "hooked_stress.hpp"

#include <mariadb/errmsg.h>
#include <mariadb/mysqld_error.h>
#include <stress/clients/mariadb_control.hpp>

using namespace client_tests;

namespace {

// The pool asks libmariadb.
struct mariadb_connection {
  mariadb_handle handle;

  hocket::connection_state state() const noexcept {
    const bool is_usable =
        handle && mysql_errno(handle.get()) == 0 && (handle->server_status & SERVER_STATUS_IN_TRANS) == 0;
    return is_usable ? hocket::connection_state::idle : hocket::connection_state::broken;
  }
  bool is_idle() noexcept { return state() == hocket::connection_state::idle; }
};

class mariadb_client : public hooked_workers {
 public:
  using connection = mariadb_connection;

  explicit mariadb_client(const server& db) : port_(db.port()) {}

  auto connector() const {
    return hocket::hook::hooked([port = port_]() -> hocket::result<connection> {
      connection db{connect_to_mariadb(port)};
      if (!db.is_idle()) return lost_connection();
      return db;
    });
  }

  hocket::result<std::string> ask(connection& db, const stress_request& request) const {
    const std::string& token = request.token;
    switch (request.kind % 6) {
      case 0: return query(db, "select '" + token + "'");
      case 1: return query(db, "select sleep(0.001), '" + token + "'");
      case 2: return query(db, "select repeat('x', 200000), '" + token + "'");
      case 3: return read_rows(db, token);
      case 4: return query_in_transaction(db, token, true);
      default: return query_in_transaction(db, token, false);  // the pool closes the connection
    }
  }

 private:
  static hocket::failure error_of(connection& db) {
    switch (mysql_errno(db.handle.get())) {
      case CR_SERVER_GONE_ERROR:
      case CR_SERVER_LOST:
      case CR_SERVER_LOST_EXTENDED:
      case CR_COMMANDS_OUT_OF_SYNC:  // a request before was ended in the middle of its rows
      case ER_QUERY_INTERRUPTED:     // the next ones: ended by KILL
      case ER_CONNECTION_KILLED:
      case ER_SERVER_SHUTDOWN: return lost_connection();
      default: return unexpected_error();
    }
  }
  static hocket::result<std::string> query(connection& db, const std::string& text) {
    if (mysql_real_query(db.handle.get(), text.data(), text.size()) != 0) return error_of(db);
    const mariadb_rows rows{mysql_store_result(db.handle.get()), &mysql_free_result};
    if (mysql_errno(db.handle.get()) != 0) return error_of(db);
    return last_value(rows.get());
  }
  // Reads the rows from the socket, as the program asks for them.
  static hocket::result<std::string> read_rows(connection& db, const std::string& token) {
    const std::string text = "select repeat('x', 100000), 'other' union all select repeat('x', 99999), '" + token + "'";
    if (mysql_real_query(db.handle.get(), text.data(), text.size()) != 0) return error_of(db);
    const mariadb_rows rows{mysql_use_result(db.handle.get()), &mysql_free_result};
    std::string value;
    for (std::string next = last_value(rows.get()); !next.empty(); next = last_value(rows.get())) value = next;
    if (mysql_errno(db.handle.get()) != 0) return error_of(db);
    return value;
  }
  static hocket::result<std::string> query_in_transaction(connection& db, const std::string& token, bool commits) {
    const auto begun = query(db, "start transaction with consistent snapshot");
    if (!begun || !begun->empty()) return begun;
    const auto answer = query(db, "select '" + token + "'");
    if (!answer || !commits) return answer;
    const auto ended = query(db, "commit");
    return !ended || !ended->empty() ? ended : answer;
  }

  const int port_;
};

}  // namespace

TEST_CASE("hooked libmariadb: no query gets the answer of another, whatever ends the queries before it") {
  const server db("HOCKET_MARIADB");
  if (!db) return;
  REQUIRE(mysql_library_init(0, nullptr, nullptr) == 0);
  mariadb_client client(db);
  mariadb_control control(db);
  run_stress(client, control);
}
