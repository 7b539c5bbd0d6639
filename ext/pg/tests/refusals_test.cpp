// What the client refuses, and COPY.
#include "scripted_server.hpp"

#include <hocket/coro/timeout_task.hpp>
#include <hocket/time/within.hpp>

#include <optional>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;

namespace {

const std::string with_zero("admin\0x", 7);

// A CopyInResponse ('G'), a CopyOutResponse ('H') or a CopyBothResponse ('W'), of one text column.
std::string copy_response(char type) { return message(type, std::string(1, '\0') + int16_bytes(1) + int16_bytes(0)); }

}  // namespace

TEST_CASE("a zero byte is refused in every text, and nothing is sent") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    const std::string_view values[] = {"a", with_zero};
    const pg::statement in_parameter[] = {{"select 1"}, {"select $1", values}};
    const pg::statement in_text[] = {{with_zero}};
    const pg::statement in_name[] = {{with_zero, {}, true}};
    CHECK((co_await client.query(with_zero)).error() == pg::errc::zero_byte);
    CHECK(client.message().find("zero byte") != std::string_view::npos);
    CHECK((co_await client.query("select $1", with_zero)).error() == pg::errc::zero_byte);
    CHECK((co_await client.query("select $1, $2", "a", std::optional(with_zero))).error() == pg::errc::zero_byte);
    CHECK((co_await client.query(with_zero, "a")).error() == pg::errc::zero_byte);
    CHECK((co_await client.prepare(with_zero, "select 1")).error() == pg::errc::zero_byte);
    CHECK((co_await client.prepare("name", with_zero)).error() == pg::errc::zero_byte);
    CHECK((co_await client.execute(with_zero)).error() == pg::errc::zero_byte);
    CHECK((co_await client.execute("name", "a", with_zero)).error() == pg::errc::zero_byte);
    CHECK((co_await client.pipeline(in_parameter)).error() == pg::errc::zero_byte);
    CHECK((co_await client.pipeline(in_text)).error() == pg::errc::zero_byte);
    CHECK((co_await client.pipeline(in_name)).error() == pg::errc::zero_byte);
    CHECK((co_await pg::begin(client, with_zero)).error() == pg::errc::zero_byte);
    CHECK((co_await pg::connect(server.where() + with_zero)).error() == pg::errc::zero_byte);
    CHECK(client.is_idle());
    auto query = spawn([&]() -> task<std::string> { co_return value_of((co_await client.query("next")).value()); });
    const pg_request request = co_await peer.request();
    CHECK(request.types() == "Q");
    CHECK(request.text() == "next");
    co_await peer.answer(request, "own");
    CHECK((co_await query) == "own");
  });
}

TEST_CASE("more than 65,535 parameters are refused") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    const std::vector<std::string_view> values(65'536, "x");
    const pg::statement all[] = {{"select 1", values}};
    CHECK((co_await client.run(all[0])).error() == pg::errc::too_many_parameters);
    CHECK((co_await client.pipeline(all)).error() == pg::errc::too_many_parameters);
    CHECK(client.is_idle());
  });
}

TEST_CASE("a pipeline that no buffer holds is sent whole before its answers are awaited") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    const std::string large(16'000'000, 'x');
    const std::string_view values[] = {large};
    const pg::statement all[] = {{"first", values}, {"second", values}};
    auto answers = spawn([&]() -> task<> {
      const auto received = co_await client.pipeline(all);
      REQUIRE(received.value().size() == 2);
      CHECK(std::string_view(PQgetvalue(received->at(1).get(), 0, 0)) == "answer");
    });
    const pg_request request = co_await peer.request();
    CHECK(request.text() == "second");
    co_await peer.answer(request, "answer");
    co_await answers;
    CHECK(client.is_idle());
  });
}

TEST_CASE("nullptr, nullopt and an empty optional are NULL in every call, and an empty text is not") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto serve = spawn([&]() -> task<> { return peer.serve(); });
    const std::optional<std::string> none, some = "text";
    CHECK(value_of((co_await client.query("$1", nullptr)).value()) == "NULL");
    CHECK(value_of((co_await client.query("$1, $2", "a", std::nullopt)).value()) == "NULL");
    CHECK(value_of((co_await client.query("$1", none)).value()) == "NULL");
    CHECK(value_of((co_await client.query("$1", some)).value()) == "text");
    CHECK(value_of((co_await client.query("$1", static_cast<const char*>(nullptr))).value()) == "NULL");
    CHECK(value_of((co_await client.query("no NULL", "")).value()) == "no NULL");
    CHECK(value_of((co_await client.execute("name", nullptr)).value()) == "NULL");
    const std::vector<std::optional<std::string>> values{"a", std::nullopt};
    const pg::parameter mixed[] = {"a", nullptr};
    const pg::statement all[] = {{"$1, $2", values}, {"name", mixed, true}};
    const auto answers = (co_await client.pipeline(all)).value();
    CHECK(value_of(answers[0]) == "NULL");
    CHECK(value_of(answers[1]) == "NULL");
    {
      const pg::connection last = std::move(client);
    }
    co_await serve;
  });
}

TEST_CASE("COPY in a pipeline is an error of its own, and breaks the connection") {
  for (const char type : {'G', 'H', 'W'})
    for (const std::size_t place : {0u, 1u, 2u})
      run_script([=]() -> task<> {
        scripted_server server;
        auto [client, peer] = co_await connect_both(server);
        auto pipeline = spawn([&]() -> task<result<std::vector<pg::rows>>> {
          const pg::statement all[] = {{"first"}, {"second"}, {"third"}};
          co_return co_await client.pipeline(all);
        });
        static_cast<void>(co_await peer.request());
        const std::string before = message('1', "") + message('2', "");
        std::string bytes;
        for (std::size_t i = 0; i < place; ++i)
          bytes += before + row_description() + data_row("x") + complete("SELECT 1");
        co_await peer.send(bytes + before + message('n', "") + copy_response(type));
        const auto outcome = co_await pipeline.join();
        CHECK(outcome.error() == pg::errc::copy_in_pipeline);
        CHECK(client.state() == connection_state::broken);
        CHECK((co_await client.query("next")).error() == std::errc::connection_reset);
      });
}

TEST_CASE("a COPY is carried out by native(); until its end other calls are refused") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto query = spawn([&]() -> task<ExecStatusType> {
      co_return PQresultStatus((co_await client.query("copy t from stdin")).value().get());
    });
    static_cast<void>(co_await peer.request());
    co_await peer.send(copy_response('G'));
    CHECK((co_await query) == PGRES_COPY_IN);
    CHECK(client.state() == connection_state::copying);
    CHECK_FALSE(client.is_idle());
    CHECK((co_await client.query("next")).error() == pg::errc::copying);
    CHECK((co_await client.prepare("name", "next")).error() == pg::errc::copying);
    CHECK((co_await client.pipeline({})).error() == pg::errc::copying);
    CHECK(PQputCopyData(client.native(), "1\n", 2) == 1);
    CHECK(PQputCopyEnd(client.native(), nullptr) == 1);
    CHECK(PQflush(client.native()) == 0);
    CHECK((co_await peer.next()).body == "1\n");
    CHECK((co_await peer.next()).type == 'c');
    CHECK(client.state() == connection_state::copying);
    co_await peer.send(complete("COPY 1") + ready('I'));
    while (PGresult* const rest = PQgetResult(client.native())) PQclear(rest);
    CHECK(client.state() == connection_state::idle);
    auto serve = spawn([&]() -> task<> { return peer.serve(); });
    CHECK(value_of((co_await client.query("next")).value()) == "next");
    {
      const pg::connection last = std::move(client);
    }
    co_await serve;
  });
}

TEST_CASE("a drain ends a COPY in both directions") {
  for (const char type : {'G', 'H'})
    run_script([type]() -> task<> {
      scripted_server server;
      auto [client, peer] = co_await connect_both(server);
      auto query = spawn([&]() -> task<> { static_cast<void>(co_await client.query("copy t")); });
      static_cast<void>(co_await peer.request());
      co_await peer.send(copy_response(type));
      co_await query;
      CHECK(client.state() == connection_state::copying);
      auto drain = spawn([&]() -> task<> { CHECK((co_await client.drain()).has_value()); });
      {
        const cancel_packet cancel = co_await server.accept_cancel();
      }
      if (type == 'H') co_await peer.send(message('d', "1\n") + message('d', "2\n") + error("57014", "cancelled"));
      else CHECK((co_await peer.request()).types() == "f");
      if (type == 'G') co_await peer.send(error("57014", "COPY from stdin failed"));
      co_await peer.send(ready('I'));
      co_await drain;
      CHECK(client.is_idle());
    });
}

TEST_CASE("an answer of several statements has the first failure, and ends at a COPY") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto query = spawn([&]() -> task<result<pg::rows>> { co_return co_await client.query("a; b"); });
    static_cast<void>(co_await peer.request());
    co_await peer.send(row_description() + data_row("x") + complete("SELECT 1") + error("22012", "division by zero") +
                       ready('I'));
    const auto outcome = co_await query.join();
    CHECK(outcome.error() == pg::sqlstate("22012"));
    CHECK(client.message().find("division by zero") != std::string_view::npos);
    CHECK(client.is_idle());
  });
}

TEST_CASE("a server that ends a statement with the connection says why") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto query = spawn([&]() -> task<result<pg::rows>> { co_return co_await client.query("select 1"); });
    static_cast<void>(co_await peer.request());
    co_await peer.send(report('E', "FATAL", "57P01", "terminating connection"));
    peer.close();
    CHECK((co_await query.join()).error() == pg::sqlstate("57P01"));
    CHECK(client.state() == connection_state::broken);
  });
}
