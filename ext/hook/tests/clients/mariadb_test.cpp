// MariaDB's client, libmariadb.
#include "clients.hpp"

#include <mariadb/mysql.h>
#include <memory>

using namespace client_tests;

namespace {

using connection = std::unique_ptr<MYSQL, decltype(&mysql_close)>;

connection connect(const server& db) {
  connection own{mysql_init(nullptr), &mysql_close};
  if (own &&
      !mysql_real_connect(own.get(), "127.0.0.1", "root", "", nullptr, static_cast<unsigned>(db.port()), nullptr, 0))
    own.reset();
  return own;
}

// The values of all rows, or the error.
std::string query(const connection& db, const char* text) {
  if (!db) return "no connection";
  if (mysql_query(db.get(), text) != 0) return mysql_error(db.get());
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(db.get()), &mysql_free_result};
  std::string words;
  while (MYSQL_ROW row = rows ? mysql_fetch_row(rows.get()) : nullptr)
    for (unsigned i = 0; i < mysql_num_fields(rows.get()); ++i) words.append(row[i] ? row[i] : "null").append(" ");
  return words;
}

}  // namespace

TEST_CASE("libmariadb: 200 sessions at once give what one on a thread gives") {
  const server db("HOCKET_MARIADB");
  if (!db) return;
  REQUIRE(mysql_library_init(0, nullptr, nullptr) == 0);
  expect_equal_output(200, [&] {
    const connection own = connect(db);
    return query(own, "select seq, repeat(md5(seq), 20) from mysql.help_topic join (select 1 seq) one limit 200") +
           query(own, "select sleep(0.01), 'slept'") + query(own, "select * from no_such_table");
  });
}

TEST_CASE("libmariadb: a query that waits for a lock lets the holder of the lock run on the same thread") {
  const server db("HOCKET_MARIADB");
  if (!db) return;
  int acquired = 0;
  loop lp;
  spawn(lp, hook::hooked([&] {
          const connection own = connect(db);
          CHECK(query(own, "select get_lock('one', 60)") == "1 ");
          for (int i = 0; i < 20; ++i)
            spawn(lp, hook::hooked([&] {
                    const connection mine = connect(db);
                    acquired += query(mine, "select get_lock('one', 60)") == "1 ";
                  }));
          const auto waiting = "select count(*) from information_schema.processlist where state = 'User lock'";
          while (query(own, waiting) != "20 ") {
          }
          CHECK(acquired == 0);
          query(own, "select release_lock('one')");
        }));
  lp.run();
  CHECK(acquired == 20);
}

TEST_CASE("libmariadb: a cancel, a deadline and a kill at each call of a session") {
  const server db("HOCKET_MARIADB");
  if (!db) return;
  const auto session = [&] {
    const connection own = connect(db);
    return query(own, "select sleep(0.002), 1") == "0 1 ";
  };
  end_everywhere(session, 10);
}
