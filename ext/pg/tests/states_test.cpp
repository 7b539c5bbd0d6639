// The states of a connection, for every call, every end of its wait, and every moment of the server's answer.
#include "scripted_server.hpp"

#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/time/within.hpp>

#include <optional>
#include <poll.h>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;

namespace {

template <class T>
std::error_code error_in(const result<T>& outcome) {
  return outcome ? std::error_code() : outcome.error();
}

using guard = std::optional<pg::transaction>;

// Every call that sends something. Each returns its error. `is_inside`: it needs an open transaction.
struct call {
  const char* name;
  task<std::error_code> (*run)(pg::connection& db, guard& open);
  bool is_inside = false;
};
const call calls[] = {
    {"query",
     [](pg::connection& db, guard&) -> task<std::error_code> { co_return error_in(co_await db.query("stale")); }},
    {"query with a parameter",
     [](pg::connection& db, guard&) -> task<std::error_code> { co_return error_in(co_await db.query("$1", "stale")); }},
    {"prepare",
     [](pg::connection& db, guard&) -> task<std::error_code> {
       co_return error_in(co_await db.prepare("stale", "stale"));
     }},
    {"execute",
     [](pg::connection& db, guard&) -> task<std::error_code> {
       co_return error_in(co_await db.execute("name", "stale"));
     }},
    {"pipeline",
     [](pg::connection& db, guard&) -> task<std::error_code> {
       const std::string_view values[] = {"stale"};
       const pg::statement all[] = {{"$1", values}, {"name", values, true}, {"stale"}};
       co_return error_in(co_await db.pipeline(all));
     }},
    {"begin", [](pg::connection& db, guard&) -> task<std::error_code> { co_return error_in(co_await pg::begin(db)); }},
    {"commit",
     [](pg::connection&, guard& open) -> task<std::error_code> { co_return error_in(co_await open->commit()); }, true},
    {"rollback",
     [](pg::connection&, guard& open) -> task<std::error_code> { co_return error_in(co_await open->rollback()); },
     true},
};

enum class end { cancel, deadline, kill };
enum class sent { nothing, part, whole };
const char* name_of(end way) { return way == end::cancel ? "cancel" : way == end::kill ? "kill" : "deadline"; }

// One operation of a client, up to the end of its wait.
struct operation {
  join_handle<> handle;
  std::error_code error;
  bool has_returned = false;

  void start(pg::connection& db, guard& open, const call& tried, end way) {
    handle = spawn([&db, &open, &tried, way, this]() -> task<> {
      if (way == end::deadline) error = co_await tried_within(db, open, tried);
      else error = co_await tried.run(db, open);
      has_returned = true;
    });
  }
  task<> stop(end way) {
    if (way == end::cancel) handle.cancel();
    if (way == end::kill) handle.kill();
    static_cast<void>(co_await handle.join());
  }

 private:
  static task<std::error_code> tried_within(pg::connection& db, guard& open, const call& tried) {
    auto outcome = co_await within(1ms, tried.run(db, open));
    co_return outcome ? *outcome : outcome.error();
  }
};

task<> yield_often() {
  for (int i = 0; i < 100; ++i) static_cast<void>(co_await yield());
}

// The connection is in doubt: nobody gets its next answer. Then a drain makes it idle.
task<> drain_and_ask(scripted_server& server, pg::connection& client, pg_peer& peer, guard& open, std::string rest) {
  CHECK(client.state() == connection_state::awaiting_answers);
  CHECK_FALSE(client.is_idle());
  for (const call& each : calls)
    if (open || !each.is_inside) CHECK((co_await each.run(client, open)) == pg::errc::answers_outstanding);
  bool is_drained = false;
  auto drain = spawn([&]() -> task<> {
    CHECK((co_await client.drain()).has_value());
    is_drained = true;
  });
  cancel_packet cancel = co_await server.accept_cancel();
  CHECK(cancel.pid == scripted_server::pid);
  CHECK(cancel.key == scripted_server::key);
  co_await peer.send(rest);
  auto serve = spawn([&]() -> task<> { return peer.serve(); });
  co_await yield_often();
  CHECK_FALSE(is_drained);  // the request could still reach the next statement
  cancel.stream = {};
  co_await drain;
  CHECK(client.state() == connection_state::idle);
  CHECK(client.is_idle());
  if (open) CHECK((co_await open->commit()).error() == pg::errc::no_transaction);
  CHECK(value_of((co_await client.query("fresh")).value()) == "fresh");
  {
    const pg::connection last = std::move(client);
  }
  co_await serve;
}

task<> begin_both(pg::connection& client, pg_peer& peer, guard& open) {
  auto begin = spawn([&]() -> task<> { open.emplace((co_await pg::begin(client)).value()); });
  const pg_request request = co_await peer.request();
  co_await peer.send(peer.answer_to(request));
  co_await begin;
}

task<> walk(const call& tried, end way, sent moment) {
  CAPTURE(std::string(tried.name));
  CAPTURE(std::string(name_of(way)));
  CAPTURE(static_cast<int>(moment));
  scripted_server server;
  auto [client, peer] = co_await connect_both(server);
  guard open;
  if (tried.is_inside) co_await begin_both(client, peer, open);
  operation started;
  started.start(client, open, tried, way);
  const pg_request request = co_await peer.request();
  const std::string answer = peer.answer_to(request);
  const std::size_t size = moment == sent::nothing ? 0 : moment == sent::part ? answer.size() / 2 : answer.size();
  if (size != 0) co_await peer.send(answer.substr(0, size));
  co_await started.stop(way);
  if (started.has_returned && !started.error) {  // the answer was faster than the deadline
    CHECK(moment == sent::whole);
    co_return;
  }
  if (started.has_returned)
    CHECK(started.error == (way == end::deadline ? std::errc::timed_out : std::errc::operation_canceled));
  co_await drain_and_ask(server, client, peer, open, answer.substr(size));
}

}  // namespace

TEST_CASE("whatever ends a call, its answer is dropped by the drain, and the next statement gets its own") {
  for (const call& each : calls)
    for (const end way : {end::cancel, end::deadline, end::kill})
      for (const sent moment : {sent::nothing, sent::part, sent::whole})
        run_script([&]() -> task<> { return walk(each, way, moment); });
}

TEST_CASE("a wait that has ended returns before the server answers or accepts the cancel request") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    const auto late = co_await within(1ms, client.query("select 1"));
    CHECK(late.error() == std::errc::timed_out);
    CHECK(client.state() == connection_state::awaiting_answers);
    const cancel_packet cancel = co_await server.accept_cancel();
    CHECK(cancel.pid == scripted_server::pid);
  });
}

TEST_CASE("a connection whose server never answers is broken when the drain has reached its limit") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    CHECK((co_await within(1ms, client.query("select 1"))).error() == std::errc::timed_out);
    CHECK((co_await client.drain(1ms)).error() == std::errc::timed_out);
    CHECK(client.state() == connection_state::broken);
    CHECK((co_await client.query("select 1")).error() == std::errc::connection_reset);
    CHECK((co_await client.drain()).error() == std::errc::connection_reset);
  });
}

TEST_CASE("a drain that is cancelled or killed leaves the connection broken") {
  for (const bool kills : {false, true})
    run_script([kills]() -> task<> {
      scripted_server server;
      auto [client, peer] = co_await connect_both(server);
      CHECK((co_await within(1ms, client.query("select 1"))).error() == std::errc::timed_out);
      auto drain = spawn([&]() -> task<> { static_cast<void>(co_await client.drain()); });
      const cancel_packet cancel = co_await server.accept_cancel();
      co_await yield_often();
      if (kills) drain.kill();
      else drain.cancel();
      static_cast<void>(co_await drain.join());
      CHECK(client.state() == connection_state::broken);
    });
}

TEST_CASE("if four cancel requests are stuck, a fifth connection is not drained") {
  run_script([]() -> task<> {
    scripted_server server;
    std::vector<both_ends> all;
    for (int i = 0; i < 5; ++i) all.push_back(co_await connect_both(server));
    std::vector<cancel_packet> stuck;
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK((co_await within(1ms, all[i].client.query("select 1"))).error() == std::errc::timed_out);
      if (i < 4) stuck.push_back(co_await server.accept_cancel());
    }
    CHECK((co_await all[4].client.drain()).error() == pg::errc::cancel_refused);
    CHECK(all[4].client.state() == connection_state::broken);
    stuck.clear();
    for (std::size_t i = 0; i < 4; ++i) {
      auto serve = spawn([&]() -> task<> {
        co_await all[i].peer.send(all[i].peer.answer_to(co_await all[i].peer.request()));
        co_await all[i].peer.serve();
      });
      CHECK((co_await all[i].client.drain()).has_value());
      CHECK(value_of((co_await all[i].client.query("fresh")).value()) == "fresh");
      {
        const pg::connection last = std::move(all[i].client);
      }
      co_await serve;
    }
  });
}

TEST_CASE("a cancel at every await of every call leaves a connection that drains and answers") {
  for (const call& each : calls) {
    CAPTURE(std::string(each.name));
    int completed = 0;
    for (int step = 0; completed < 3 && step < 1'000'000; step = step < 30 ? step + 1 : step * 3 / 2)
      run_script([&]() -> task<> {
        scripted_server server;
        auto accept = spawn([&]() -> task<> { return server.run(); });
        {
          pg::connection client = (co_await pg::connect(server.where())).value();
          guard open;
          if (each.is_inside) open.emplace((co_await pg::begin(client)).value());
          operation started;
          started.start(client, open, each, end::cancel);
          for (int i = 0; i < step && !started.handle.done(); ++i) static_cast<void>(co_await yield());
          co_await started.stop(end::cancel);
          completed += started.has_returned && !started.error;
          CHECK((co_await client.drain()).has_value());
          CHECK(client.state() == connection_state::idle);
          CHECK(value_of((co_await client.query("fresh")).value()) == "fresh");
        }
        server.close();
        co_await accept;
      });
    CHECK(completed == 3);
  }
}

TEST_CASE("an answer that no statement asked for breaks the connection, and is not given to the next statement") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto query = spawn([&]() -> task<std::string> { co_return value_of((co_await client.query("first")).value()); });
    const pg_request request = co_await peer.request();
    co_await peer.send(peer.answer_to(request) + peer.answer_to(request, "second"));
    CHECK((co_await query) == "first");
    CHECK(client.state() == connection_state::broken);
    CHECK((co_await client.query("next")).error() == pg::errc::protocol_violation);
  });
}

TEST_CASE("a row that does not exist is no message of the server, also after the connection's end") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto serve = spawn([&]() -> task<> { return peer.serve(); });
    const pg::rows answer = (co_await client.query("first")).value();
    {
      const pg::connection last = std::move(client);
    }
    CHECK(PQgetvalue(answer.get(), 7, 0) == nullptr);
    co_await serve;
  });
}

TEST_CASE("a row or column that does not exist leaves the connection as it is, and is null") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto serve = spawn([&]() -> task<> { return peer.serve(); });
    const pg::rows answer = (co_await client.query("first")).value();
    CHECK(PQgetvalue(answer.get(), 7, 0) == nullptr);
    CHECK(PQgetvalue(answer.get(), 0, 7) == nullptr);
    CHECK(client.is_idle());
    CHECK(co_await client.query("next"));
    CHECK(client.state() == connection_state::idle);
    {
      const pg::connection last = std::move(client);
    }
    co_await serve;
  });
}

TEST_CASE("is_idle() reads what has arrived: a second answer, an error and an end break the connection") {
  const std::string pushed[] = {row_description() + data_row("x") + complete("SELECT 1") + ready('I'),
                                report('E', "FATAL", "57P01", "terminating connection"), ""};
  for (const std::string& bytes : pushed)
    run_script([&]() -> task<> {
      scripted_server server;
      auto [client, peer] = co_await connect_both(server);
      CHECK(client.is_idle());
      if (bytes.empty()) peer.close();
      else co_await peer.send(bytes);
      CHECK(client.state() == connection_state::idle);
      CHECK(co_await eventually([&] { return !client.is_idle(); }));
      CHECK(client.state() == connection_state::broken);
      const std::error_code error = (co_await client.query("next")).error();
      if (bytes == pushed[0]) CHECK(error == pg::errc::protocol_violation);
      else CHECK(error == std::errc::connection_reset);
    });
}

TEST_CASE("is_idle() sees a reset, and an end, at its first look") {
  for (const bool resets : {false, true})
    run_script([resets]() -> task<> {
      scripted_server server;
      auto [client, peer] = co_await connect_both(server);
      CHECK(peer.stream().set_reset_on_close(resets).has_value());
      peer.close();
      pollfd socket{PQsocket(client.native()), POLLRDHUP, 0};
      CHECK(co_await eventually([&] { return ::poll(&socket, 1, 0) == 1; }));  // it has arrived
      CHECK_FALSE(client.is_idle());
      CHECK(client.state() == connection_state::broken);
    });
}

TEST_CASE("notices go to the log handler, and do not end an idle connection") {
  static std::string logged;
  logged.clear();
  const log_handler outer = set_log_handler([](const char* text) noexcept { logged += text; });
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    co_await peer.send(report('N', "WARNING", "01000", "be careful") +
                       message('A', int32_bytes(1) + zero_terminated("channel") + zero_terminated("payload")));
    CHECK(co_await eventually([&] { return !client.is_idle() || !logged.empty(); }));
    CHECK(client.is_idle());
  });
  set_log_handler(outer);
  CHECK(logged == "PostgreSQL: WARNING:  be careful");
}
