#pragma once
// MariaDB's libmariadb, blocking.
#include <mariadb/mysql.h>

#include "clients.hpp"

namespace lab {

class client {
 public:
  explicit client(const client_workload&) : db_(mysql_init(nullptr)) {
    const auto port = static_cast<unsigned>(port_of("HOCKET_MARIADB"));
    if (!db_) fail("no handle of MariaDB");
    if (!mysql_real_connect(db_, "127.0.0.1", "root", "", nullptr, port, nullptr, 0)) fail(mysql_error(db_));
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() { mysql_close(db_); }

  static void begin() { mysql_library_init(0, nullptr, nullptr); }

  void ask(std::size_t number) {
    const std::string text = std::to_string(number);
    if (mysql_query(db_, ("select sleep(0.1), " + text).c_str()) != 0) fail(mysql_error(db_));
    MYSQL_RES* const got = mysql_store_result(db_);
    const MYSQL_ROW row = got ? mysql_fetch_row(got) : nullptr;
    if (!row || text != row[1]) fail("a wrong answer of MariaDB");
    mysql_free_result(got);
  }

 private:
  MYSQL* const db_;
};

}  // namespace lab
