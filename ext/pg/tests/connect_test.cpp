// Connecting: each failure has an error and a text of its own; hosts, addresses, limits; name lookups.
#include "scripted_server.hpp"

#include <hocket/coro/timeout_task.hpp>
#include <hocket/time/within.hpp>

#include <dirent.h>
#include <support/stuck_names.hpp>
#include <tuple>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;

namespace {

// What a failed connect() returns.
struct refusal {
  std::error_code error;
  std::string text;
};
task<refusal> refused(std::string conninfo) {
  std::string text;
  auto client = co_await pg::connect(std::move(conninfo), &text);
  CHECK_FALSE(client.has_value());
  co_return refusal{client ? std::error_code() : client.error(), text};
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Answers one startup packet by `bytes`, and closes.
task<refusal> refused_by(std::string bytes) {
  scripted_server server;
  auto refuse = spawn([&]() -> task<> {
    pg_peer peer = co_await server.accept_startup();
    co_await peer.send(bytes);
  });
  refusal outcome = co_await refused(server.where());
  co_await refuse;
  co_return outcome;
}

int count_fds() {
  int count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder)) ++count;
  ::closedir(folder);
  return count;
}

// A loopback port at which no server listens.
std::string closed_port() {
  const scripted_server closed;
  return std::to_string(closed.port());
}

}  // namespace

TEST_CASE("each refusal of a server is its SQLSTATE, with its text") {
  run_script([]() -> task<> {
    for (const auto& [state, text] : {std::pair{"28P01", "password authentication failed for user \"u\""},
                                      {"57P03", "the database system is starting up"},
                                      {"3D000", "database \"d\" does not exist"},
                                      {"53300", "sorry, too many clients already"}}) {
      const refusal outcome = co_await refused_by(report('E', "FATAL", state, text));
      CHECK(outcome.error == pg::sqlstate(state));
      CHECK(contains(outcome.text, text));
    }
  });
}

TEST_CASE("a server that asks for a password gets none: an error of its own") {
  run_script([]() -> task<> {
    const refusal outcome = co_await refused_by(message('R', int32_bytes(3)));
    CHECK(outcome.error == pg::errc::password_required);
    CHECK(contains(outcome.text, "password"));
  });
}

TEST_CASE("a server that is dead, away, or closes at once is an error of its own") {
  run_script([]() -> task<> {
    const refusal dead =
        co_await refused("host=127.0.0.1 user=u sslmode=disable gssencmode=disable port=" + closed_port());
    CHECK(dead.error == std::errc::connection_refused);
    CHECK(contains(dead.text, "refused"));
    const refusal absent = co_await refused("host=/no/such/folder user=u");
    CHECK(absent.error == std::errc::no_such_file_or_directory);
    CHECK(contains(absent.text, "/no/such/folder"));
    const refusal closed = co_await refused_by("");
    CHECK(closed.error == std::errc::connection_reset);
    CHECK(contains(closed.text, "closed the connection"));
    const refusal garbage = co_await refused_by("HTTP/1.1 400 Bad Request\r\n\r\n");
    CHECK(garbage.error == pg::errc::connect_failed);
    CHECK_FALSE(garbage.text.empty());
  });
}

TEST_CASE("a malformed connection string is an error of its own") {
  run_script([]() -> task<> {
    for (const char* text : {"nonsense", "host=a,b port=1,2,3", "host=127.0.0.1 connect_timeout=soon", "sslmode=none",
                             "host=127.0.0.1 port=70000", "service=none_such"}) {
      CAPTURE(text);
      const refusal outcome = co_await refused(text);
      CHECK(outcome.error == pg::errc::invalid_conninfo);
      CHECK_FALSE(outcome.text.empty());
    }
  });
}

TEST_CASE("hosts are tried in order: after a dead one and one that starts up the next; not after a refusal") {
  run_script([]() -> task<> {
    scripted_server starting, good;
    const std::string ports =
        "port=" + closed_port() + "," + std::to_string(starting.port()) + "," + std::to_string(good.port());
    const std::string where = "host=127.0.0.1,127.0.0.1,127.0.0.1 user=u sslmode=disable gssencmode=disable " + ports;
    auto script = spawn([&]() -> task<> {
      pg_peer first = co_await starting.accept_startup();
      co_await first.send(report('E', "FATAL", "57P03", "starting up"));
      first.close();
      pg_peer second = co_await good.accept_session();
      second.close();
      pg_peer refusing = co_await starting.accept_startup();
      co_await refusing.send(report('E', "FATAL", "28P01", "wrong password"));
    });
    CHECK((co_await pg::connect(where)).has_value());
    const refusal outcome = co_await refused(where);
    co_await script;
    CHECK(outcome.error == pg::sqlstate("28P01"));
    CHECK(contains(outcome.text, "refused"));  // the texts of all attempts
    CHECK(contains(outcome.text, "wrong password"));
  });
}

TEST_CASE("connect_timeout limits each host, and is not the caller's deadline") {
  run_script([]() -> task<> {
    scripted_server silent, good;
    const std::string where =
        "host=127.0.0.1,127.0.0.1 user=u sslmode=disable gssencmode=disable connect_timeout=1 port=" +
        std::to_string(silent.port()) + ",";
    auto accept = spawn([&]() -> task<> { pg_peer peer = co_await good.accept_session(); });
    CHECK((co_await pg::connect(where + std::to_string(good.port()))).has_value());
    co_await accept;
    const refusal outcome = co_await refused(where + std::to_string(silent.port()));
    CHECK(outcome.error == pg::errc::connect_timed_out);
    CHECK(outcome.error != std::errc::timed_out);
    CHECK(contains(outcome.text, "timeout expired"));
    CHECK((co_await within(1ms, pg::connect(where + std::to_string(good.port())))).error() == std::errc::timed_out);
  });
}

TEST_CASE("a session of the wrong kind is an error of its own, and prefer-standby takes it when there is no standby") {
  run_script([]() -> task<> {
    const std::string primary =
        message('R', int32_bytes(0)) + message('S', zero_terminated("server_version") + zero_terminated("15.0")) +
        message('S', zero_terminated("default_transaction_read_only") + zero_terminated("off")) +
        message('S', zero_terminated("in_hot_standby") + zero_terminated("off")) +
        message('K', int32_bytes(1) + int32_bytes(2)) + ready('I');
    scripted_server server;
    auto script = spawn([&]() -> task<> {
      for (int i = 0; i < 3; ++i) {
        pg_peer peer = co_await server.accept_startup();
        co_await peer.send(primary);
        static_cast<void>(co_await peer.request());
      }
    });
    const refusal outcome = co_await refused(server.where("target_session_attrs=standby"));
    CHECK(outcome.error == pg::errc::wrong_session);
    {
      CHECK((co_await pg::connect(server.where("target_session_attrs=prefer-standby"))).has_value());
    }
    co_await script;
  });
}

TEST_CASE("a stuck name lookup never holds the loop, nor a numeric host; its waiter leaves at the deadline") {
  run_script([]() -> task<> {
    const stuck_names stuck;
    scripted_server server;
    std::vector<join_handle<>> waiters;
    for (int i = 0; i < 64; ++i)
      waiters.push_back(spawn([]() -> task<> {
        const auto client = co_await within(1ms, pg::connect("host=stuck.test user=u"));
        CHECK(client.error() == std::errc::timed_out);
      }));
    for (auto& each : waiters) co_await each;
    CHECK(stuck.running() <= 32);
    CHECK(stuck.running() >= 1);
    auto both = co_await connect_both(server);
    CHECK(both.client.is_idle());
    const refusal second = co_await refused(
        "host=127.0.0.1,stuck.test user=u sslmode=disable gssencmode=disable "
        "connect_timeout=1 port=" +
        closed_port());
    CHECK(second.error == pg::errc::connect_timed_out);
  });
}

TEST_CASE("a name is looked up, and all of its addresses are tried") {
  run_script([]() -> task<> {
    CHECK((co_await refused("host=unix:/run/db user=u")).error == pg::errc::unknown_host);
    const refusal unknown = co_await refused("host=unknown.test user=u");
    CHECK(unknown.error == pg::errc::unknown_host);
    CHECK(contains(unknown.text, "unknown.test"));
    scripted_server server;
    auto accept = spawn([&]() -> task<> { pg_peer peer = co_await server.accept_session(); });
    CHECK((co_await pg::connect(server.where("host=two.test"))).has_value());
    co_await accept;
  });
}

TEST_CASE("a cancel at every await of a connect leaves no descriptor") {
  const int before = count_fds();
  for (int step = 0; step < 40; ++step)
    run_script([&]() -> task<> {
      scripted_server server;
      auto accept = spawn([&]() -> task<> { return server.run(); });
      auto connecting =
          spawn([&]() -> task<> { static_cast<void>(co_await pg::connect(server.where("host=two.test"))); });
      for (int i = 0; i < step; ++i) static_cast<void>(co_await yield());
      connecting.cancel();
      static_cast<void>(co_await connecting.join());
      server.close();
      co_await accept;
    });
  CHECK(count_fds() == before);
}

TEST_CASE("a thousand connections leave no descriptor") {
  run_script([]() -> task<> {
    scripted_server server;
    auto accept = spawn([&]() -> task<> { return server.run(); });
    {
      CHECK((co_await pg::connect(server.where())).has_value());
    }
    const int before = count_fds();
    for (int i = 0; i < 1000; ++i) {
      auto client = co_await pg::connect(server.where());
      CHECK(client.has_value());
    }
    CHECK(co_await eventually([&] { return count_fds() <= before; }));  // the server's ends close later
    server.close();
    co_await accept;
  });
}

TEST_CASE("a connector connects, and logs why it cannot") {
  static std::string logged;
  logged.clear();
  const log_handler outer = set_log_handler([](const char* text) noexcept { logged += text; });
  run_script([]() -> task<> {
    scripted_server server;
    const pg::connector connect(server.where());
    auto accept = spawn([&]() -> task<> { pg_peer peer = co_await server.accept_session(); });
    CHECK((co_await connect()).has_value());
    co_await accept;
    server.close();
    CHECK((co_await connect()).error() == std::errc::connection_refused);
  });
  set_log_handler(outer);
  CHECK(contains(logged, "PostgreSQL: "));
  CHECK(contains(logged, "refused"));
}
