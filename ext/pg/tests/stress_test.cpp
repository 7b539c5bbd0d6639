// hocket::pg under stress (tests/stress/clients/client_stress.hpp), over a connection_pool: the drains are the pool's.
#include <hocket/pg/connection.hpp>
#include <hocket/pg/transaction.hpp>

#include "stress/clients/client_stress.hpp"
#include "stress/clients/postgres_control.hpp"

using namespace hocket;
using namespace hocket_test;

namespace {

class pg_client : public coroutine_workers {
 public:
  using connection = pg::connection;

  explicit pg_client(const server& db) : conninfo_(db.text()) {}

  auto connector() const {
    return [conninfo = conninfo_]() -> task<result<connection>> {
      auto db = co_await or_return(pg::connect(conninfo));
      co_await or_return(db.prepare("answer", "select $1::text"));
      co_return db;
    };
  }

  task<result<std::string>> ask(connection& db, const stress_request& request) {
    switch (request.kind % kinds) {
      case 0: return ask_text(db, "select '" + request.token + "'");
      case 1: return ask_parameter(db, "select $1 from pg_sleep(0.001)", request.token);
      case 2: return ask_parameter(db, "select repeat('x', 200000), $1", request.token);
      case 3: return ask_prepared(db, request.token);
      case 4: return ask_pipeline(db, request.token);
      case 5: return ask_in_transaction(db, request.token, true);
      case 6: return ask_in_transaction(db, request.token, false);
      default: return ask_after_begin(db, request.token);
    }
  }

  // A connection in doubt is drained by the pool, and some by the worker. A transaction without a guard is left to the
  // pool.
  task<bool> may_continue(connection& db, const stress_request& request, const result<std::string>& answer,
                          random_engine& random) {
    if (answer) co_return request.kind % kinds != after_begin;
    if (random.below(4) != 0) co_return false;
    const auto drained = co_await db.drain();
    co_return drained.has_value();
  }

  // 57P01: the server has ended the session.
  static bool is_end(std::error_code error) { return is_end_of_request(error) || error == pg::sqlstate("57P01"); }

 private:
  static constexpr std::uint32_t kinds = 8, after_begin = 7;

  static task<result<std::string>> ask_text(connection& db, std::string text) {
    const pg::rows answer = co_await or_return(db.query(text));
    co_return last_value(answer.get());
  }
  static task<result<std::string>> ask_parameter(connection& db, std::string text, std::string token) {
    const pg::rows answer = co_await or_return(db.query(text, token));
    co_return last_value(answer.get());
  }
  static task<result<std::string>> ask_prepared(connection& db, std::string token) {
    const pg::rows answer = co_await or_return(db.execute("answer", token));
    co_return last_value(answer.get());
  }
  static task<result<std::string>> ask_pipeline(connection& db, std::string token) {
    const pg::parameter values[] = {token};
    const pg::statement statements[] = {{"select 'other'"}, {"select $1 from pg_sleep(0.0005)", values}};
    const auto answers = co_await or_return(db.pipeline(statements));
    co_return last_value(answers.back().get());
  }
  static task<result<std::string>> ask_in_transaction(connection& db, std::string token, bool commits) {
    pg::transaction open = co_await or_return(pg::begin(db));
    const pg::rows answer = co_await or_return(db.query("select $1 from pg_sleep(0.0005)", token));
    if (commits) co_await or_return(open.commit());
    co_return last_value(answer.get());
  }
  static task<result<std::string>> ask_after_begin(connection& db, std::string token) {
    co_await or_return(db.query("begin"));
    const pg::rows answer = co_await or_return(db.query("select $1", token));
    co_return last_value(answer.get());
  }

  const std::string conninfo_;
};

}  // namespace

TEST_CASE("no statement gets the answer of another, whatever ends the statements before it") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  pg_client client(db);
  postgres_control control(db);
  run_stress(client, control);
}
