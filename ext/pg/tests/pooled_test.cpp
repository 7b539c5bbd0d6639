// pg::connection in a connection_pool: what a borrower leaves is nothing to the next one.
#include <hocket/pool/connection_pool.hpp>
#include <hocket/runtime/runtime.hpp>

#include "scripted_server.hpp"

#include <functional>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;

namespace {

using pg_pool = connection_pool<pg::connection>;

constexpr connection_pool_options one_connection{.limit = 1, .drain_time = 30s};

task<std::string> ask(pg_pool& pool, std::string text) {
  auto lent = co_await pool.acquire();
  if (!lent) co_return lent.error().message();
  const auto answer = co_await (*lent)->query(text);
  co_return answer ? value_of(*answer) : answer.error().message();
}

// The way in which the wait of a borrower ends.
enum class ending { cancelled, timed_out, killed };

}  // namespace

TEST_CASE("a statement whose wait has ended gives no answer to the next borrower of its connection") {
  for (const ending way : {ending::cancelled, ending::timed_out, ending::killed})
    run_script([way]() -> task<> {
      scripted_server server;
      runtime rt({.workers = 1});
      pg_pool pool(rt, pg::connector(server.where()), one_connection);
      auto first = spawn([&] { return ask(pool, "first"); });
      pg_peer peer = co_await server.accept_session();
      co_await peer.answer(co_await peer.request(), "1");
      CHECK((co_await first) == "1");
      const duration limit = way == ending::timed_out ? duration(1ms) : duration(1h);
      auto ended = spawn([&]() -> task<> {
        auto lent = (co_await pool.acquire()).value();
        CHECK_FALSE((co_await within(limit, lent->query("balance of ada"))).has_value());
      });
      const pg_request request = co_await peer.request();
      if (way == ending::cancelled) ended.cancel();
      if (way == ending::killed) ended.kill();
      static_cast<void>(co_await ended.join());
      auto bob = spawn([&] { return ask(pool, "balance of bob"); });
      {
        const cancel_packet cancel = co_await server.accept_cancel();
        CHECK(cancel.key == scripted_server::key);
      }
      co_await peer.answer(request, "ada has 7");
      const pg_request own = co_await peer.request();
      CHECK(own.text() == "balance of bob");
      co_await peer.answer(own, "bob has 3");
      CHECK((co_await bob) == "bob has 3");
      CHECK(pool.statistics().connects == 1);
      CHECK(pool.statistics().drained == 1);
    });
}

TEST_CASE("a transaction that a borrower leaves open is rolled back before the connection is lent again") {
  using borrower = task<> (*)(pg::connection& lent);
  const borrower borrowers[] = {
      [](pg::connection& lent) -> task<> { const auto open = (co_await pg::begin(lent)).value(); },
      [](pg::connection& lent) -> task<> { CHECK((co_await lent.query("BEGIN")).has_value()); }};
  for (const borrower run : borrowers)
    run_script([run]() -> task<> {
      scripted_server server;
      runtime rt({.workers = 1});
      pg_pool pool(rt, pg::connector(server.where()), one_connection);
      auto leaves = spawn([&]() -> task<> {
        auto lent = (co_await pool.acquire()).value();
        co_await run(*lent);
      });
      pg_peer peer = co_await server.accept_session();
      std::vector<std::string> requests;
      auto serve = spawn([&]() -> task<> {
        for (pg_request request = co_await peer.request(); !request.is_end(); request = co_await peer.request()) {
          requests.push_back(request.text());
          co_await peer.send(peer.answer_to(request));
        }
      });
      co_await leaves;
      CHECK((co_await ask(pool, "next")) == "next");
      CHECK(requests == std::vector<std::string>{"BEGIN", "ROLLBACK", "next"});
      pool.close();  // the idle connection, too
      co_await serve;
    });
}

TEST_CASE("a refused connect is the error of the borrower, and no lease is empty") {
  run_script([]() -> task<> {
    scripted_server server;
    runtime rt({.workers = 1});
    pg_pool pool(rt, pg::connector(server.where()), one_connection);
    auto borrow = spawn([&]() -> task<std::error_code> { co_return (co_await pool.acquire()).error(); });
    {
      pg_peer peer = co_await server.accept_startup();
      co_await peer.send(report('E', "FATAL", "28P01", "password authentication failed"));
    }
    CHECK((co_await borrow) == pg::sqlstate("28P01"));
    CHECK(pool.statistics().failed_connects == 1);
  });
}
