// Ten thousand fibers, twenty connections, one thread: libpq unchanged, as its documentation shows it. To libpq each
// query blocks; meanwhile the thread runs the other fibers.
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

// An ordinary function: only its wait for a connection is about fibers.
bool square(unsync::pool<connection>& db, const char* where, int number) {
  auto lent = await(db.borrow());
  if (!lent) return false;
  if (!*lent) lent->emplace(PQconnectdb(where), &PQfinish);
  const std::string text = std::to_string(number);
  const char* const parameters[] = {text.c_str()};
  const rows got{PQexecParams((**lent).get(), "select $1::bigint * $1::bigint", 1, nullptr, parameters, nullptr, nullptr, 0),
                 &PQclear};
  return PQresultStatus(got.get()) == PGRES_TUPLES_OK &&
         std::atoll(PQgetvalue(got.get(), 0, 0)) == 1LL * number * number;
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
