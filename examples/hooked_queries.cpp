// Ten thousand fibers, twenty connections, one thread: libpq unchanged, as its documentation shows it. To libpq each
// query blocks; meanwhile the thread runs the other fibers.
//
// The rule. A query that ended without its answer leaves its connection in doubt, and no other query may use it. If a
// limit, a cancel or a kill ends the query, then its socket refuses each transfer until it is closed. So libpq calls
// the connection bad, is_usable() is false, and the pool destroys it.
#include <hocket/hocket.hpp>
#include <hocket/hook/hook.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <postgresql/libpq-fe.h>
#include <string>

using namespace hocket;

using connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using rows = std::unique_ptr<PGresult, decltype(&PQclear)>;

bool is_usable(connection& db) {
  return PQstatus(db.get()) == CONNECTION_OK && PQtransactionStatus(db.get()) == PQTRANS_IDLE;
}

// An ordinary function: only its wait for a connection and its limit are about fibers.
bool square(unsync::pool<connection>& db, const char* where, int number) {
  auto lent = await(db.borrow());
  if (!lent) return false;
  if (!*lent) lent->emplace(PQconnectdb(where), &PQfinish);
  const std::string text = std::to_string(number);
  const char* const parameters[] = {text.c_str()};
  const auto query = [&] {
    return rows{PQexecParams((**lent).get(), "select $1::bigint * $1::bigint", 1, nullptr, parameters, nullptr, nullptr, 0),
                &PQclear};
  };
  const result<rows> found = hook::within(std::chrono::seconds(30), query);
  return found && PQresultStatus(found->get()) == PGRES_TUPLES_OK &&
         std::atoll(PQgetvalue(found->get(), 0, 0)) == 1LL * number * number;
}

int main() {
  const char* const where = std::getenv("HOCKET_POSTGRES");  // such as "host=127.0.0.1 user=postgres"
  if (!where) {
    std::puts("no server: set HOCKET_POSTGRES to a connection string of libpq");
    return 0;
  }
  constexpr int queries = 10'000;
  unsync::pool<connection> db({.limit = 20, .check = is_usable});
  int right = 0;
  loop lp;
  for (int number = 0; number < queries; ++number)
    spawn(lp, hook::hooked([&, number] { right += square(db, where, number); }));
  lp.run();
  std::printf("%d of %d right, by %zu connections\n", right, queries, db.idle());
  return right == queries ? 0 : 1;
}
