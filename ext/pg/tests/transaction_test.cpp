// The guard of a transaction.
#include "scripted_server.hpp"

#include <hocket/coro/timeout_task.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/time/within.hpp>

#include <optional>
#include <poll.h>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;

namespace {

// Runs body(client, requests), beside a server that notes each request.
template <class Body>
void with_server(Body body) {
  run_script([&]() -> task<> {
    scripted_server server;
    auto ends = co_await connect_both(server);
    std::vector<std::string> requests;
    auto serve = spawn([&]() -> task<> {
      for (pg_request request = co_await ends.peer.request(); !request.is_end();
           request = co_await ends.peer.request()) {
        requests.push_back(request.text());
        co_await ends.peer.send(ends.peer.answer_to(request));
      }
    });
    {
      pg::connection client = std::move(ends.client);
      co_await body(client, requests, ends.peer);
    }
    co_await serve;
  });
}

using texts = std::vector<std::string>;

// A statement by the functions of libpq.
task<> run_natively(pg::connection& client, const char* text) {
  PGconn* const handle = client.native();
  CHECK(PQsendQuery(handle, text) == 1);
  CHECK(PQflush(handle) == 0);
  while (PQisBusy(handle) != 0) {
    static_cast<void>(co_await poll_fd(PQsocket(handle), POLLIN));
    CHECK(PQconsumeInput(handle) == 1);
  }
  while (PGresult* const result = PQgetResult(handle)) PQclear(result);
}

}  // namespace

TEST_CASE("a committed transaction leaves no mark") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    {
      pg::transaction open = (co_await pg::begin(client, "isolation level serializable")).value();
      CHECK(client.state() == connection_state::in_transaction);
      CHECK_FALSE(client.is_idle());
      CHECK((co_await client.query("insert")).has_value());
      CHECK((co_await open.commit()).has_value());
      CHECK_FALSE(open);
      CHECK((co_await open.commit()).error() == pg::errc::no_transaction);
      CHECK((co_await open.rollback()).error() == pg::errc::no_transaction);
    }
    CHECK(client.is_idle());
    CHECK((co_await client.query("next")).has_value());
    CHECK(requests == texts{"BEGIN isolation level serializable", "insert", "COMMIT", "next"});
  });
}

TEST_CASE("a guard that is destroyed sends nothing; the next call sends ROLLBACK first, whatever it is") {
  using next_call = task<> (*)(pg::connection& client);
  const next_call calls[] = {
      [](pg::connection& client) -> task<> { CHECK((co_await client.query("next")).has_value()); },
      [](pg::connection& client) -> task<> { CHECK((co_await client.prepare("name", "next")).has_value()); },
      [](pg::connection& client) -> task<> {
        const pg::statement all[] = {{"next"}};
        CHECK((co_await client.pipeline(all)).has_value());
      },
      [](pg::connection& client) -> task<> { CHECK((co_await client.query("next", "parameter")).has_value()); },
      [](pg::connection& client) -> task<> {
        pg::transaction open = (co_await pg::begin(client)).value();
        CHECK((co_await open.rollback()).has_value());
        CHECK((co_await client.query("next")).has_value());
      },
      [](pg::connection& client) -> task<> { CHECK((co_await client.drain()).has_value()); },
  };
  for (const next_call run : calls)
    with_server([run](pg::connection& client, texts& requests, pg_peer&) -> task<> {
      {
        const pg::transaction open = (co_await pg::begin(client)).value();
      }
      CHECK(requests == texts{"BEGIN"});
      CHECK(client.state() == connection_state::in_transaction);
      CHECK_FALSE(client.is_idle());
      co_await run(client);
      CHECK(client.state() == connection_state::idle);
      REQUIRE(requests.size() >= 2);
      CHECK(requests[1] == "ROLLBACK");
      CHECK((requests.size() == 2 || requests.back() == "next"));
    });
}

TEST_CASE("a mark has no effect if the holder has ended the transaction by a statement of its own") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    {
      const pg::transaction open = (co_await pg::begin(client)).value();
      CHECK((co_await client.query("COMMIT")).has_value());
    }
    CHECK(client.is_idle());
    CHECK((co_await client.query("next")).has_value());
    CHECK(requests == texts{"BEGIN", "COMMIT", "next"});
  });
}

TEST_CASE("a guard whose transaction has ended rolls no later transaction back, whoever begins it") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    {
      const pg::transaction open = (co_await pg::begin(client)).value();
      CHECK((co_await client.query("COMMIT")).has_value());
    }
    CHECK((co_await client.query("BEGIN by hand")).has_value());
    CHECK((co_await client.query("inside")).has_value());
    CHECK((co_await client.query("COMMIT")).has_value());
    std::optional<pg::transaction> ended = (co_await pg::begin(client)).value();
    CHECK((co_await client.query("COMMIT")).has_value());
    ended.reset();
    pg::transaction open = (co_await pg::begin(client)).value();
    CHECK((co_await client.query("inside")).has_value());
    CHECK((co_await open.commit()).has_value());
    CHECK(requests == texts{"BEGIN", "COMMIT", "BEGIN by hand", "inside", "COMMIT", "BEGIN", "COMMIT", "BEGIN",
                            "inside", "COMMIT"});
  });
}

TEST_CASE("a guard whose transaction has ended rolls no transaction back that libpq's functions begin or end") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    {
      const pg::transaction open = (co_await pg::begin(client)).value();
      CHECK((co_await client.query("COMMIT")).has_value());
    }
    co_await run_natively(client, "BEGIN by libpq");
    CHECK((co_await client.query("inside")).has_value());
    CHECK((co_await client.query("COMMIT")).has_value());
    CHECK(requests == texts{"BEGIN", "COMMIT", "BEGIN by libpq", "inside", "COMMIT"});
  });
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    {
      const pg::transaction open = (co_await pg::begin(client)).value();
    }
    co_await run_natively(client, "COMMIT");
    CHECK((co_await client.query("BEGIN by hand")).has_value());
    CHECK((co_await client.query("inside")).has_value());
    CHECK(requests == texts{"BEGIN", "COMMIT", "BEGIN by hand", "inside"});
  });
}

TEST_CASE("commit() of a transaction that a drain or a statement has ended is an error") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    pg::transaction drained = (co_await pg::begin(client)).value();
    CHECK((co_await client.drain()).has_value());
    CHECK_FALSE(drained);
    CHECK((co_await drained.commit()).error() == pg::errc::no_transaction);
    pg::transaction ended = (co_await pg::begin(client)).value();
    CHECK((co_await client.query("ROLLBACK")).has_value());
    CHECK((co_await ended.commit()).error() == pg::errc::no_transaction);
    pg::transaction first = (co_await pg::begin(client)).value();
    CHECK((co_await client.query("COMMIT")).has_value());
    pg::transaction second = (co_await pg::begin(client)).value();
    CHECK_FALSE(first);
    CHECK((co_await second.commit()).has_value());
    CHECK(requests == texts{"BEGIN", "ROLLBACK", "BEGIN", "ROLLBACK", "BEGIN", "COMMIT", "BEGIN", "COMMIT"});
  });
}

TEST_CASE("a ping sends an empty statement, and leaves the state") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    CHECK((co_await client.ping()).has_value());
    CHECK(client.is_idle());
    pg::transaction open = (co_await pg::begin(client)).value();
    CHECK((co_await client.ping()).has_value());
    CHECK(client.state() == connection_state::in_transaction);
    CHECK((co_await open.commit()).has_value());
    CHECK(requests == texts{"", "BEGIN", "", "COMMIT"});
  });
}

TEST_CASE("commit() of a transaction in which a statement has failed is an error") {
  with_server([](pg::connection& client, texts&, pg_peer& peer) -> task<> {
    pg::transaction open = (co_await pg::begin(client)).value();
    peer.status = 'E';
    CHECK((co_await client.query("a statement that fails")).has_value());
    CHECK(client.state() == connection_state::in_transaction);
    CHECK((co_await open.commit()).error() == pg::errc::rolled_back);
    CHECK_FALSE(open);
    CHECK(client.is_idle());
  });
}

TEST_CASE("a transaction inside of a transaction is refused") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    pg::transaction open = (co_await pg::begin(client)).value();
    CHECK((co_await pg::begin(client)).error() == pg::errc::in_transaction);
    CHECK((co_await open.rollback()).has_value());
    CHECK((co_await client.query("BEGIN by hand")).has_value());
    CHECK((co_await pg::begin(client)).error() == pg::errc::in_transaction);
    CHECK(requests == texts{"BEGIN", "ROLLBACK", "BEGIN by hand"});
  });
}

TEST_CASE("a moved guard keeps its transaction; an assigned one first marks its own") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    std::optional<pg::transaction> second;
    {
      pg::transaction open = (co_await pg::begin(client)).value();
      second.emplace(std::move(open));
      CHECK_FALSE(open);
    }
    CHECK((co_await client.query("inside")).has_value());
    CHECK(requests == texts{"BEGIN", "inside"});
    pg::transaction& same = *second;
    *second = std::move(same);
    CHECK((co_await second->commit()).has_value());
    *second = (co_await pg::begin(client)).value();
    second.reset();
    CHECK((co_await client.query("next")).has_value());
    CHECK(requests == texts{"BEGIN", "inside", "COMMIT", "BEGIN", "ROLLBACK", "next"});
  });
}

TEST_CASE("a guard may outlive its connection, and a connection may move below its guard") {
  with_server([](pg::connection& client, texts& requests, pg_peer&) -> task<> {
    pg::transaction open = (co_await pg::begin(client)).value();
    {
      pg::connection moved = std::move(client);
      CHECK((co_await moved.query("inside")).has_value());
    }
    CHECK_FALSE(open);
    CHECK((co_await open.commit()).error() == pg::errc::no_transaction);
    CHECK(requests == texts{"BEGIN", "inside"});
  });
}

TEST_CASE("a kill inside of a transaction is rolled back by the drain") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto holder = spawn([&]() -> task<> {
      const pg::transaction open = (co_await pg::begin(client)).value();
      static_cast<void>(co_await client.query("inside"));
    });
    const pg_request begin = co_await peer.request();
    co_await peer.send(peer.answer_to(begin));
    const pg_request inside = co_await peer.request();
    holder.kill();
    static_cast<void>(co_await holder.join());
    CHECK(client.state() == connection_state::awaiting_answers);
    auto drain = spawn([&]() -> task<> { CHECK((co_await client.drain()).has_value()); });
    {
      const cancel_packet cancel = co_await server.accept_cancel();
    }
    co_await peer.send(peer.answer_to(inside));
    const pg_request last = co_await peer.request();
    CHECK(last.text() == "ROLLBACK");
    co_await peer.send(peer.answer_to(last));
    co_await drain;
    CHECK(client.is_idle());
  });
}

TEST_CASE("a commit that a deadline ends keeps the guard: the transaction may be open, committed or rolled back") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto begin = spawn([&]() -> task<result<pg::transaction>> { co_return co_await pg::begin(client); });
    co_await peer.send(peer.answer_to(co_await peer.request()));
    {
      pg::transaction open = (co_await begin.join()).value();
      CHECK((co_await within(1ms, open.commit())).error() == std::errc::timed_out);
      CHECK(open);
    }
    auto drain = spawn([&]() -> task<> { CHECK((co_await client.drain()).has_value()); });
    {
      const cancel_packet cancel = co_await server.accept_cancel();
    }
    static_cast<void>(co_await peer.request());
    co_await peer.send(error("57014", "cancelled") + ready('E'));
    const pg_request last = co_await peer.request();
    CHECK(last.text() == "ROLLBACK");
    co_await peer.send(peer.answer_to(last));
    co_await drain;
    CHECK(client.is_idle());
  });
}
