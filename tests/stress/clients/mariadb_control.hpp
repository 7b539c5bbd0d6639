// MariaDB's side of a stress (client_stress.hpp), by libmariadb on a plain thread.
#pragma once
#include "servers/server.hpp"
#include "stress/clients/stopped_process.hpp"
#include "stress/clients/stress_run.hpp"

#include <mariadb/mysql.h>
#include <memory>

namespace hocket_test {

using mariadb_handle = std::unique_ptr<MYSQL, decltype(&mysql_close)>;
using mariadb_rows = std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)>;

inline mariadb_handle connect_to_mariadb(int port) {
  mariadb_handle db{mysql_init(nullptr), &mysql_close};
  if (db && !mysql_real_connect(db.get(), "127.0.0.1", "root", "", nullptr, static_cast<unsigned>(port), nullptr, 0))
    db.reset();
  return db;
}
// The last value of the next row; "": there is none.
inline std::string last_value(MYSQL_RES* rows) {
  const MYSQL_ROW row = rows ? mysql_fetch_row(rows) : nullptr;
  const char* const value = row ? row[mysql_num_fields(rows) - 1] : nullptr;
  return value ? value : "";
}

class mariadb_control {
 public:
  explicit mariadb_control(const server& db) : db_(connect_to_mariadb(db.port())) { REQUIRE(db_); }

  void advance(random_engine&) {}
  void end_session(random_engine& random) {
    const std::string session = query(
        "select id from information_schema.processlist where id <> connection_id() and user = 'root' order by "
        "id limit " +
        std::to_string(random.below(connections_at_most)) + ", 1");
    if (!session.empty()) mysql_query(db_.get(), ("kill " + session).c_str());  // an error: it has ended before
  }
  stopped_process stop(random_engine&) { return {server_, ::getppid()}; }
  std::size_t sessions_in_doubt() {
    return std::strtoul(query("select count(*) from information_schema.innodb_trx").c_str(), nullptr, 10);
  }

 private:
  std::string query(const std::string& text) {
    REQUIRE_MESSAGE(mysql_query(db_.get(), text.c_str()) == 0, mysql_error(db_.get()));
    const mariadb_rows rows{mysql_store_result(db_.get()), &mysql_free_result};
    return last_value(rows.get());
  }

  static constexpr std::uint32_t connections_at_most = 8;
  const pid_t server_ = server_process("HOCKET_MARIADB_PID");
  const mariadb_handle db_;
};

}  // namespace hocket_test
