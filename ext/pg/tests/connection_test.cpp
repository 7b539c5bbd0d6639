// hocket::pg against a server that the test starts.
#include <hocket/pg/connection.hpp>
#include <hocket/pg/transaction.hpp>

#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/pool.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <memory>
#include <servers/on_loop.hpp>
#include <servers/server.hpp>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using hocket_test::on_loop;
using hocket_test::server;

namespace {

std::string first_of(const pg::rows& rows) {
  return PQntuples(rows.get()) == 0 ? "none" : PQgetvalue(rows.get(), 0, 0);
}

// A statement that owns its parameter.
struct add_one {
  explicit add_one(int to) : parameters{std::to_string(to)} {}
  pg::statement command() const { return {"select $1::int + 1", parameters}; }
  std::vector<std::string> parameters;
};

// The first value of an answer, or the error's message.
task<std::string> answer_to(task<result<pg::rows>> query) {
  const auto answer = co_await std::move(query);
  co_return answer ? first_of(*answer) : answer.error().message();
}
template <class... Parameters>
task<std::string> ask(pg::connection& db, std::string_view text, const Parameters&... parameters) {
  return answer_to(db.query(text, parameters...));
}

}  // namespace

TEST_CASE("a query gives libpq's rows; parameters are values, whatever they contain") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    CHECK(co_await ask(own, "select 6 * 7") == "42");
    CHECK(co_await ask(own, "select $1 || $2", "it's; ", "drop table") == "it's; drop table");
    CHECK(co_await ask(own, "select 1; select 2") == "2");
    const auto many = co_await own.query("select repeat('x', 1000) from generate_series(1, 2000)");
    CHECK(PQntuples(many->get()) == 2000);
    const auto none = co_await own.query("create temp table t(a int unique)");
    CHECK(PQresultStatus(none->get()) == PGRES_COMMAND_OK);
    CHECK(pg::is_idle(own));
    const std::string long_text(3'000'000, 'y');
    CHECK((co_await ask(own, "select length($1)", long_text)) == "3000000");
  });
}

TEST_CASE("a prepared statement is run by its name, alone and in a pipeline") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    const auto prepared = co_await own.prepare("sum", "select $1::int + $2::int");
    CHECK(prepared);
    for (int i = 0; i < 3; ++i) {
      const auto answer = co_await own.execute("sum", std::to_string(i), "40");
      CHECK(first_of(answer.value()) == std::to_string(40 + i));
    }
    const std::string_view terms[] = {"1", "2"};
    const add_one nine(9);
    const pg::statement both[] = {{"sum", terms, true}, nine.command()};
    const auto all = co_await own.pipeline(both);
    CHECK(first_of(all.value()[0]) == "3");
    CHECK(first_of(all.value()[1]) == "10");
    const auto again = co_await own.prepare("sum", "select 1");
    CHECK(again.error() == pg::sqlstate("42P05"));
    const auto unknown = co_await own.execute("no such name");
    CHECK(unknown.error() == pg::sqlstate("26000"));
    const auto wrong = co_await own.prepare("wrong", "select from from");
    CHECK(wrong.error() == pg::sqlstate("42601"));
    CHECK(pg::is_idle(own));
  });
}

TEST_CASE("a statement is written in the expression that awaits it") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  const auto ask_twice = [](pg::connection& own, std::string text) -> task<result<std::string>> {
    const std::string_view parameters[] = {text};
    const pg::rows found = co_await or_return(
        own.run({.text = "select 'a text that is not short, and: ' || $1", .parameters = parameters}));
    co_return first_of(found);
  };
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    CHECK((co_await ask_twice(own, "a parameter that is not short")).value() ==
          "a text that is not short, and: a parameter that is not short");
  });
}

TEST_CASE("a statement may be awaited after its texts were destroyed") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    std::string text = "select 'a text that is not short, and: ' || $1", parameter = "a parameter that is not short";
    auto query = own.query(text, parameter);
    text.assign(text.size(), 'x');
    parameter.assign(parameter.size(), 'x');
    CHECK(first_of((co_await std::move(query)).value()) ==
          "a text that is not short, and: a parameter that is not short");
    auto all = std::make_unique<add_one>(9);
    const pg::statement commands[] = {all->command()};
    auto pipeline = own.pipeline(commands);
    all.reset();
    CHECK(first_of((co_await std::move(pipeline)).value()[0]) == "10");
  });
}

TEST_CASE("a refused query has its SQLSTATE as the error, and the connection remains usable") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    const auto wrong = co_await own.query("select * from no_such_table");
    CHECK(wrong.error() == pg::sqlstate("42P01"));
    CHECK(wrong.error().message() == "SQLSTATE 42P01");
    CHECK(own.message().find("no_such_table") != std::string_view::npos);
    const auto syntax = co_await own.query("select from from");
    CHECK(syntax.error() == pg::sqlstate("42601"));
    CHECK(co_await ask(own, "select 1") == "1");
  });
}

TEST_CASE("fibers and threads await the same") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  loop lp;
  auto fiber = spawn(lp, [&] {
    auto own = await(pg::connect(db.text())).value();
    CHECK(first_of(await(own.query("select 'fiber'")).value()) == "fiber");
  });
  lp.run();
  auto of_thread = sync_wait(pg::connect(db.text())).value();
  CHECK(first_of(sync_wait(of_thread.query("select 'thread'")).value()) == "thread");
}

TEST_CASE("a pipeline is one trip; after the first error no statement is executed") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    std::vector<add_one> sums;
    std::vector<pg::statement> all;
    for (int i = 0; i < 500; ++i) sums.emplace_back(i);
    for (const add_one& sum : sums) all.push_back(sum.command());
    const auto answers = co_await own.pipeline(all);
    REQUIRE(answers.has_value());
    REQUIRE(answers->size() == 500);
    CHECK(first_of((*answers)[0]) == "1");
    CHECK(first_of((*answers)[499]) == "500");
    CHECK(pg::is_idle(own));
    std::vector<pg::statement> broken(3);
    broken[0].text = "create table made(a int)";
    broken[1].text = "select 1 / 0";
    broken[2].text = "select 1";
    const auto failed = co_await own.pipeline(broken);
    CHECK(failed.error() == pg::sqlstate("22012"));
    CHECK(pg::is_idle(own));
    CHECK(co_await ask(own, "select count(*) from pg_tables where tablename = 'made'") == "0");
    CHECK((co_await own.pipeline({}))->empty());
  });
}

TEST_CASE("a query that a deadline ends is cancelled at the server, and its connection is not idle") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value(), other = (co_await pg::connect(db.text())).value();
    const auto late = co_await within(20ms, own.query("select pg_sleep(60)"));
    CHECK(late.error() == std::errc::timed_out);
    CHECK_FALSE(pg::is_idle(own));
    const std::string count =
        "select count(*) from pg_stat_activity where query like '%pg_sleep(60)%' and state = 'active' "
        "and pid = " +
        std::to_string(PQbackendPID(own.native()));
    while (co_await ask(other, count) != "0") {
    }
  });
}

TEST_CASE("a killed query leaves nothing behind, and its pool makes another connection") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  pool<pg::connection> all({.limit = 1, .check = pg::is_idle});
  loop lp;
  const auto borrow = [&]() -> task<result<pool<pg::connection>::lease>> {
    auto lent = co_await or_return(all.borrow());
    if (!lent) lent.emplace(co_await or_return(pg::connect(db.text())));
    co_return lent;
  };
  bool is_querying = false;
  auto waits = spawn(lp, [&]() -> task<> {
    auto lent = (co_await borrow()).value();
    is_querying = true;
    static_cast<void>(co_await lent->query("select pg_sleep(60)"));
  });
  auto kills = spawn(lp, [&]() -> task<> {
    while (!is_querying) co_await yield();
    co_await yield();
    waits.kill();
    auto lent = (co_await borrow()).value();
    CHECK(co_await ask(*lent, "select 'next'") == "next");
  });
  lp.run();
  CHECK(all.idle() == 1);
}

TEST_CASE("a connection that is half read is discarded by its pool's check") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  pool<pg::connection> all({.limit = 1, .check = pg::is_idle});
  on_loop([&]() -> task<> {
    {
      auto lent = (co_await all.borrow()).value();
      lent.emplace((co_await pg::connect(db.text())).value());
      const auto late = co_await within(10ms, lent->query("select pg_sleep(60)"));
      CHECK(late.error() == std::errc::timed_out);
    }
    CHECK(all.idle() == 1);
    const auto next = (co_await all.borrow()).value();
    CHECK_FALSE(next);
  });
}

TEST_CASE("a server that is unreachable, refuses, or disconnects in a transaction is an error") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    std::string why;
    const auto away = co_await pg::connect("host=127.0.0.1 port=1 user=nobody", &why);
    CHECK(away.error() == std::errc::connection_refused);
    CHECK(why.find("refused") != std::string::npos);
    const auto refused = co_await pg::connect(std::string(db.text()) + " dbname=no_such_database", &why);
    CHECK(refused.error() == pg::sqlstate("3D000"));
    CHECK(why.find("no_such_database") != std::string::npos);
    auto own = (co_await pg::connect(db.text())).value(), other = (co_await pg::connect(db.text())).value();
    CHECK((co_await own.query("begin")).has_value());
    const std::string pid = std::to_string(PQbackendPID(own.native()));
    CHECK(co_await ask(other, "select pg_terminate_backend(" + pid + ")") == "t");
    const auto answer = co_await own.query("select pg_sleep(60)");
    CHECK_FALSE(answer.has_value());
    CHECK_FALSE(pg::is_idle(own));
    const auto again = co_await own.query("select 1");
    CHECK(again.error() == std::errc::connection_reset);
  });
}

TEST_CASE("a query that a deadline ends is drained, and its connection answers the next query") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    for (int i = 0; i < 10; ++i) {
      CHECK((co_await within(10ms, own.query("select pg_sleep(60)"))).error() == std::errc::timed_out);
      CHECK((co_await own.query("select 1")).error() == pg::errc::answers_outstanding);
      CHECK((co_await own.drain()).has_value());
      CHECK(pg::is_idle(own));
      CHECK(co_await ask(own, "select $1", std::to_string(i)) == std::to_string(i));
    }
  });
}

TEST_CASE("a drain rolls back what a lost guard has left open") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    CHECK((co_await own.query("create temp table t(a int)")).has_value());
    {
      const pg::transaction open = (co_await pg::begin(own)).value();
      CHECK((co_await own.query("insert into t values (1)")).has_value());
      CHECK((co_await within(10ms, own.query("select pg_sleep(60)"))).error() == std::errc::timed_out);
    }
    CHECK((co_await own.drain()).has_value());
    CHECK(co_await ask(own, "select count(*) from t") == "0");
    {
      pg::transaction open = (co_await pg::begin(own)).value();
      CHECK((co_await own.query("insert into t values (1)")).has_value());
      CHECK((co_await own.query("select 1 / 0")).error() == pg::sqlstate("22012"));
      CHECK((co_await open.commit()).error() == pg::errc::rolled_back);
    }
    CHECK(co_await ask(own, "select count(*) from t") == "0");
  });
}

TEST_CASE("NULL is NULL, and a zero byte is refused") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    CHECK(co_await ask(own, "select $1::text is null", nullptr) == "t");
    CHECK(co_await ask(own, "select $1::text is null", "") == "f");
    const auto cut = co_await own.query("select $1 = 'admin'", std::string("admin\0x", 7));
    CHECK(cut.error() == pg::errc::zero_byte);
  });
}

TEST_CASE("COPY is carried out by native(), ended by a drain, and refused in a pipeline") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = (co_await pg::connect(db.text())).value();
    CHECK((co_await own.query("create temp table t(a int)")).has_value());
    const auto copy = co_await own.query("copy t from stdin");
    CHECK(PQresultStatus(copy.value().get()) == PGRES_COPY_IN);
    CHECK(PQputCopyData(own.native(), "1\n2\n", 4) == 1);
    CHECK((co_await own.drain()).has_value());
    CHECK(co_await ask(own, "select count(*) from t") == "0");
    CHECK((co_await own.query("copy (select * from generate_series(1, 100000)) to stdout")).has_value());
    CHECK(own.state() == connection_state::copying);
    CHECK((co_await own.drain()).has_value());
    CHECK(co_await ask(own, "select 1") == "1");
    for (const char* text : {"copy t from stdin", "copy (select 7) to stdout"}) {
      auto other = (co_await pg::connect(db.text())).value();
      const pg::statement all[] = {{"create temp table t(a int)"}, {text}, {"select 42"}};
      CHECK((co_await other.pipeline(all)).error() == pg::errc::copy_in_pipeline);
      CHECK(other.state() == connection_state::broken);
    }
  });
}

TEST_CASE("a connection that the server has closed is not lent") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  pool<pg::connection> all({.limit = 1, .check = pg::is_idle});
  on_loop([&]() -> task<> {
    auto other = (co_await pg::connect(db.text())).value();
    std::string pid;
    {
      auto lent = (co_await all.borrow()).value();
      lent.emplace((co_await pg::connect(db.text())).value());
      pid = std::to_string(PQbackendPID(lent->native()));
    }
    CHECK(co_await ask(other, "select pg_terminate_backend(" + pid + ", 30000)") == "t");
    const auto next = (co_await all.borrow()).value();
    CHECK_FALSE(next);
  });
}

TEST_CASE("many tasks on several workers share a pool") {
  const server db("HOCKET_POSTGRES");
  if (!db) return;
  pool<pg::connection> all({.limit = 8, .check = pg::is_idle});
  std::atomic<int> right{0};
  runtime rt({.workers = 4});
  std::vector<join_handle<>> tasks;
  for (int i = 0; i < 200; ++i)
    tasks.push_back(spawn(rt, [&, i]() -> task<> {
      auto lent = (co_await all.borrow()).value();
      if (!lent) lent.emplace((co_await pg::connect(db.text())).value());
      right += co_await ask(*lent, "select $1", std::to_string(i)) == std::to_string(i);
    }));
  for (auto& handle : tasks) sync_wait(handle);
  CHECK(right == 200);
  CHECK(all.idle() <= 8);
}
