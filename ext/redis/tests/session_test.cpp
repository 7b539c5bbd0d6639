// The state of a session: what commands and answers make of it, and what a drain repairs. A scripted server.
#include <hocket/redis/error.hpp>

#include "scripted_server.hpp"
#include "support/death.hpp"

#include <csignal>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

struct pair {
  redis::connection client;
  scripted_peer peer;
};
task<pair> connected(scripted_server& server) {
  auto client = co_await server.connect();
  auto peer = co_await server.accept();
  co_return pair{std::move(client), std::move(peer)};
}

task<std::string> exchange_words(pair& both, redis::words command, std::string answer) {
  auto reply = spawn([&] { return answer_to(both.client.run(command)); });
  co_await both.peer.expect(command);
  co_await both.peer.send(answer);
  co_return co_await reply;
}
task<std::string> exchange(pair& both, const text_arguments& command, std::string_view answer) {
  redis::words copy;
  for (std::size_t i = 0; i < command.list().size(); ++i) copy.emplace_back(command.list()[i]);
  return exchange_words(both, std::move(copy), std::string(answer));
}

struct effect {
  redis::words command;
  std::string answer;
  connection_state after;
};

task<> check_effects(const std::vector<effect>& effects) {
  for (const effect& each : effects) {
    CAPTURE(each.command[0]);
    scripted_server server;
    auto both = co_await connected(server);
    static_cast<void>(co_await exchange(both, each.command, each.answer));
    CHECK(both.client.state() == each.after);
    CHECK(both.client.is_idle() == (each.after == connection_state::idle));
  }
}

constexpr connection_state idle = connection_state::idle, changed = connection_state::changed,
                           in_transaction = connection_state::in_transaction;

}  // namespace

TEST_CASE("a command of the list is harmless, in any case of letters; every other command changes the session") {
  in_each_kind([]() -> task<> {
    const std::vector<effect> effects{
        {{"GET", "a"}, "$-1\r\n", idle},
        {{"get", "a"}, "$-1\r\n", idle},
        {{"XREAD", "STREAMS", "block", "0"}, "*-1\r\n", idle},
        {{"XREADGROUP", "GROUP", "block", "block", "STREAMS", "s", ">"}, "*-1\r\n", idle},
        {{"EVAL", "return 1", "0"}, ":1\r\n", idle},
        {{"CLIENT", "ID"}, ":7\r\n", idle},
        {{"CLIENT", "getname"}, "$-1\r\n", idle},
        {{"SCRIPT", "LOAD", "return 1"}, "$1\r\nx\r\n", idle},
        {{"UNWATCH"}, "+OK\r\n", idle},
        {{"CLIENT", "SETNAME", "x"}, "+OK\r\n", changed},
        {{"CLIENT", "REPLY", "ON"}, "+OK\r\n", changed},
        {{"CLIENT", "TRACKING", "ON"}, "+OK\r\n", changed},
        {{"SCRIPT", "DEBUG", "YES"}, "+OK\r\n", changed},
        {{"SELECT", "1"}, "+OK\r\n", changed},
        {{"select", "1"}, "-ERR out of range\r\n", changed},
        {{"AUTH", "x"}, "-WRONGPASS no\r\n", changed},
        {{"HELLO", "2"}, "*0\r\n", changed},
        {{"READONLY"}, "+OK\r\n", changed},
        {{"ASKING"}, "+OK\r\n", changed},
        {{"RESET"}, "+RESET\r\n", changed},
        {{"QUIT"}, "+OK\r\n", changed},
        {{"JSON.GET", "x"}, "$-1\r\n", changed},
        {{"a name that is longer than each command of Redis"}, "-ERR unknown\r\n", changed},
        {{"MULTI"}, "+OK\r\n", in_transaction},
        {{"MULTI"}, "-NOAUTH Authentication required.\r\n", idle},
        {{"WATCH", "a"}, "+OK\r\n", in_transaction},
        {{"EXEC"}, "-ERR EXEC without MULTI\r\n", idle},
        {{"DISCARD"}, "-ERR DISCARD without MULTI\r\n", idle},
        {{"MONITOR"}, "+OK\r\n", connection_state::subscribed},
        {{"SUBSCRIBE", "a"}, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", connection_state::subscribed},
        {{"PSUBSCRIBE", "a"}, "*3\r\n$10\r\npsubscribe\r\n$1\r\na\r\n:1\r\n", connection_state::subscribed},
        {{"SSUBSCRIBE", "a"}, "*3\r\n$10\r\nssubscribe\r\n$1\r\na\r\n:1\r\n", connection_state::subscribed},
        {{"SUBSCRIBE", "a"}, "-NOPERM no\r\n", idle},
        {{"UNSUBSCRIBE"}, "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n", idle},
    };
    co_await check_effects(effects);
  });
}

TEST_CASE("CLIENT REPLY OFF and SKIP are refused, alone and in a pipeline, and a command after MONITOR") {
  in_each_kind([]() -> task<> {
    for (const char* const mode : {"OFF", "skip"}) {
      scripted_server server;
      auto both = co_await connected(server);
      CHECK((co_await both.client.command("CLIENT", "REPLY", mode)).error() == std::errc::operation_not_supported);
      const std::vector<redis::words> all{{"GET", "a"}, {"client", "reply", mode}};
      CHECK((co_await both.client.pipeline(all)).error() == std::errc::operation_not_supported);
      CHECK(both.client.expected() == 0);
      CHECK(both.client.state() != idle);
    }
    scripted_server server;
    auto both = co_await connected(server);
    static_cast<void>(co_await exchange(both, {"MONITOR"}, "+OK\r\n+1.0 [0 x] \"GET\"\r\n"));
    CHECK((co_await both.client.command("PING")).error() == std::errc::operation_not_supported);
    const auto line = co_await both.client.next();
    CHECK(text_of(line) == "1.0 [0 x] \"GET\"");
  });
}

TEST_CASE("a command without words is invalid_argument, and is not sent") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    const redis::words none;
    CHECK((co_await both.client.run(none)).error() == std::errc::invalid_argument);
    CHECK(both.client.is_idle());
    CHECK((co_await exchange(both, {"PING"}, "+PONG\r\n")) == "PONG");
  });
}

TEST_CASE("EXEC and DISCARD end a transaction, and a refusal for another reason does not") {
  in_each_kind([]() -> task<> {
    struct end {
      redis::words command;
      std::string answer;
      connection_state after;
    };
    const std::vector<end> ends{
        {{"EXEC"}, "*0\r\n", idle},
        {{"EXEC"}, "*-1\r\n", idle},
        {{"EXEC"}, "-EXECABORT Transaction discarded\r\n", idle},
        {{"DISCARD"}, "+OK\r\n", idle},
        {{"EXEC", "x"}, "-ERR wrong number of arguments for 'exec' command\r\n", in_transaction},
        {{"UNWATCH"}, "+QUEUED\r\n", in_transaction},
        {{"MULTI"}, "-ERR MULTI calls can not be nested\r\n", in_transaction}};
    // Without a WATCH only the transaction keeps the state.
    for (const bool is_watched : {true, false}) {
      for (const end& each : ends) {
        CAPTURE(is_watched);
        CAPTURE(each.answer);
        scripted_server server;
        auto both = co_await connected(server);
        if (is_watched) static_cast<void>(co_await exchange(both, {"WATCH", "a"}, "+OK\r\n"));
        static_cast<void>(co_await exchange(both, {"MULTI"}, "+OK\r\n"));
        CHECK(both.client.state() == in_transaction);
        static_cast<void>(co_await exchange(both, each.command, each.answer));
        CHECK(both.client.state() == each.after);
      }
    }
  });
}

TEST_CASE("a transaction that a pipeline begins behind the end of another one is open") {
  in_each_kind([]() -> task<> {
    struct row {
      std::vector<redis::words> commands;
      std::string answers;
      connection_state after;
    };
    const std::vector<row> rows{
        {{{"MULTI"}, {"EXEC"}}, "+OK\r\n*0\r\n", idle},
        {{{"MULTI"}, {"EXEC"}, {"MULTI"}}, "+OK\r\n*0\r\n+OK\r\n", in_transaction},
        {{{"MULTI"}, {"DISCARD"}, {"MULTI"}}, "+OK\r\n+OK\r\n+OK\r\n", in_transaction},
        {{{"MULTI"}, {"EXEC"}, {"MULTI"}}, "+OK\r\n*0\r\n-LOADING no\r\n", idle},
        {{{"WATCH", "a"}, {"UNWATCH"}}, "+OK\r\n+OK\r\n", idle},
        {{{"WATCH", "a"}, {"UNWATCH"}, {"WATCH", "a"}}, "+OK\r\n+OK\r\n+OK\r\n", in_transaction},
        {{{"MULTI"}, {"EXEC"}, {"WATCH", "a"}}, "+OK\r\n*0\r\n+OK\r\n", in_transaction}};
    for (const row& each : rows) {
      CAPTURE(each.answers);
      scripted_server server;
      auto both = co_await connected(server);
      auto answers = spawn([&] { return both.client.pipeline(each.commands); });
      for (const redis::words& command : each.commands) co_await both.peer.expect(command);
      co_await both.peer.send(each.answers);
      CHECK((co_await answers).has_value());
      CHECK(both.client.state() == each.after);
      CHECK(both.client.is_idle() == (each.after == idle));
    }
  });
}

TEST_CASE("a drain sends DISCARD for a transaction and UNWATCH for watched keys, and fails if they are refused") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    static_cast<void>(co_await exchange(both, {"MULTI"}, "+OK\r\n"));
    auto drained = spawn([&] { return both.client.drain(); });
    co_await both.peer.expect({"DISCARD"});
    co_await both.peer.send("+OK\r\n");
    CHECK((co_await drained).has_value());
    CHECK(both.client.is_idle());

    static_cast<void>(co_await exchange(both, {"WATCH", "a"}, "+OK\r\n"));
    auto unwatched = spawn([&] { return both.client.drain(); });
    co_await both.peer.expect({"UNWATCH"});
    co_await both.peer.send("+OK\r\n");
    CHECK((co_await unwatched).has_value());
    CHECK(both.client.is_idle());

    static_cast<void>(co_await exchange(both, {"MULTI"}, "+OK\r\n"));
    auto refused = spawn([&] { return both.client.drain(); });
    co_await both.peer.expect({"DISCARD"});
    co_await both.peer.send("-LOADING no\r\n");
    CHECK((co_await refused).error() == redis::errc::loading);
  });
}

TEST_CASE("a drain fails for a session that is changed or subscribed, unless accept_session() was called") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    static_cast<void>(co_await exchange(both, {"SELECT", "3"}, "+OK\r\n"));
    CHECK((co_await both.client.drain()).error() == std::errc::operation_not_supported);
    both.client.accept_session();
    CHECK(both.client.is_idle());
    CHECK((co_await both.client.drain()).has_value());
    static_cast<void>(co_await exchange(both, {"SUBSCRIBE", "a"}, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"));
    CHECK((co_await both.client.drain()).error() == std::errc::operation_not_supported);
  });
}

TEST_CASE("SUBSCRIBE waits for the answer of each channel, and messages in between are kept for next()") {
  in_each_kind([]() -> task<> {
    const auto answer = [](const std::string& name, const std::string& channel, int count) {
      return "*3\r\n" + bulk(name) + bulk(channel) + ":" + std::to_string(count) + "\r\n";
    };
    const auto message = [](const std::string& channel, const std::string& text) {
      return "*3\r\n" + bulk("message") + bulk(channel) + bulk(text);
    };
    scripted_server server;
    auto both = co_await connected(server);
    auto subscribed = spawn([&] { return both.client.command("SUBSCRIBE", "a", "b", "a"); });
    co_await both.peer.expect({"SUBSCRIBE", "a", "b", "a"});
    co_await both.peer.send(answer("subscribe", "a", 1) + message("a", "early") + answer("subscribe", "b", 2));
    CHECK_FALSE(subscribed.done());
    co_await both.peer.send(answer("subscribe", "a", 2));
    CHECK((co_await subscribed).value()->element[2]->integer == 2);
    CHECK(both.client.state() == connection_state::subscribed);
    co_await both.peer.send(message("b", "late"));
    CHECK(std::string((co_await both.client.next()).value()->element[2]->str) == "early");
    CHECK(std::string((co_await both.client.next()).value()->element[2]->str) == "late");

    auto ended = spawn([&] { return both.client.command("UNSUBSCRIBE"); });
    co_await both.peer.expect({"UNSUBSCRIBE"});
    co_await both.peer.send(answer("unsubscribe", "a", 1) + message("b", "last"));
    CHECK_FALSE(ended.done());
    co_await both.peer.send(answer("unsubscribe", "b", 0));
    CHECK((co_await ended).has_value());
    CHECK(std::string((co_await both.client.next()).value()->element[2]->str) == "last");
    CHECK(both.client.is_idle());
    CHECK((co_await exchange(both, {"PING"}, "+PONG\r\n")) == "PONG");
  });
}

TEST_CASE("a wait for a message that is ended loses none") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    static_cast<void>(co_await exchange(both, {"SUBSCRIBE", "a"}, "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"));
    for (const ending way : all_endings) {
      auto ended = end_call(
          way,
          [&]() -> task<result<void>> {
            co_await or_return(both.client.next());
            co_return {};
          },
          [&] { return both.peer.send("*3\r\n$7\r\nmessage\r\n"); });
      co_await std::move(ended);
      co_await both.peer.send("$1\r\na\r\n$2\r\nhi\r\n");
      CHECK(std::string((co_await both.client.next()).value()->element[2]->str) == "hi");
    }
  });
}

TEST_CASE("a refusal has the server's text and code") {
  in_each_kind([]() -> task<> {
    struct refusal {
      std::string text;
      redis::errc code;
    };
    const std::vector<refusal> all{{"MOVED 3999 10.0.0.2:6381", redis::errc::moved},
                                   {"ASK 3999 10.0.0.2:6381", redis::errc::ask},
                                   {"READONLY You can't write against a read only replica.", redis::errc::read_only},
                                   {"NOAUTH Authentication required.", redis::errc::no_auth},
                                   {"LOADING Redis is loading the dataset in memory", redis::errc::loading},
                                   {"WRONGTYPE Operation against a key", redis::errc::wrong_type},
                                   {"ERR unknown command", redis::errc::refused},
                                   {"SOMETHING else", redis::errc::refused},
                                   {"OOM", redis::errc::out_of_memory}};
    scripted_server server;
    auto both = co_await connected(server);
    for (const refusal& each : all) {
      auto answer = spawn([&] { return both.client.command("GET", "a"); });
      co_await both.peer.expect({"GET", "a"});
      co_await both.peer.send("-" + each.text + "\r\n");
      auto received = co_await answer;
      CHECK(text_of(received) == each.text);
      CHECK(both.client.refusal() == each.text);
      const std::error_code error = redis::expect(std::move(received)).error();
      CHECK(error == each.code);
      CHECK(error == std::errc::bad_message);
      CHECK(error.message() != std::error_code(redis::errc::busy).message());
      CHECK(both.client.is_idle());
    }
  });
}

TEST_CASE("a command on a unix socket whose peer has closed is an error, not a signal") {
  expect_return([] {
    static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    redis::connection client(redisConnectFd(ends[0]));
    ::close(ends[1]);
    loop lp;
    auto ping = spawn(lp, [&] { return client.command("PING"); });
    lp.run();
    CHECK(sync_wait(ping).error() == std::errc::connection_reset);
  });
}

TEST_CASE("in a forked child the parent's connection is broken in each state, and its end touches nothing") {
  const std::string subscribed = "*3\r\n" + bulk("subscribe") + bulk("a") + ":1\r\n";
  const std::vector<effect> states{{{"PING"}, "+PONG\r\n", idle},
                                   {{"MULTI"}, "+OK\r\n", in_transaction},
                                   {{"SELECT", "1"}, "+OK\r\n", changed},
                                   {{"SUBSCRIBE", "a"}, subscribed, connection_state::subscribed},
                                   {{"GET", "a"}, "", connection_state::awaiting_answers}};
  for (const effect& each : states) {
    CAPTURE(each.command[0]);
    loop lp;
    scripted_server server;
    std::optional<pair> both;
    const auto run = [&](auto body) {
      auto handle = spawn(lp, std::ref(body));
      lp.run();
      sync_wait(handle);
    };
    run([&]() -> task<> {
      both.emplace(co_await connected(server));
      auto ended = spawn([&] { return answer_to(both->client.run(each.command)); });
      co_await both->peer.expect(each.command);
      if (each.answer.empty()) ended.cancel();
      else co_await both->peer.send(each.answer);
      static_cast<void>(co_await ended.join());
    });
    CHECK(both->client.state() == each.after);
    expect_return([&] {
      CHECK(both->client.state() == connection_state::broken);
      CHECK_FALSE(both->client.is_idle());
      loop own;
      auto refused = spawn(own, [&] { return both->client.command("PING"); });
      auto undrained = spawn(own, [&] { return both->client.drain(); });
      own.run();
      CHECK(sync_wait(refused).error() == std::errc::connection_aborted);
      CHECK_FALSE(sync_wait(undrained).has_value());
      const redis::connection ended = std::move(both->client);
    });
    CHECK(both->client.state() == each.after);
    if (each.after != idle) continue;
    run([&]() -> task<> { CHECK((co_await exchange(*both, {"PING"}, "+PONG\r\n")) == "PONG"); });
  }
}

TEST_CASE("a refused connect is connection_refused, and a connection can be moved while a command is under way") {
  in_each_kind([]() -> task<> {
    CHECK((co_await redis::connect("127.0.0.1", 1)).error() == std::errc::connection_refused);
    CHECK((co_await redis::connect("", 1)).error() == std::errc::invalid_argument);
    CHECK((co_await redis::connect("127.0.0.1", 70'000)).error() == std::errc::invalid_argument);
    CHECK((co_await redis::connect_unix("/no/such/socket")).error() == std::errc::no_such_file_or_directory);
    scripted_server server;
    auto both = co_await connected(server);
    auto apple = spawn([&] { return answer_to(both.client.command("GET", "apple")); });
    co_await both.peer.expect({"GET", "apple"});
    const redis::connection moved = std::move(both.client);
    co_await both.peer.send(bulk("red"));
    CHECK((co_await apple) == "red");
    CHECK(moved.state() == idle);
  });
}
