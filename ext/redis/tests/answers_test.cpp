// The queue of answers: no command gets the answer to another one. A scripted server orders each step.
#include <hocket/base/fatal.hpp>

#include "scripted_server.hpp"

#include <functional>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

using replies = result<std::vector<redis::reply>>;

// The entry points that send commands.
enum class entry_point { command, run, pipeline };
constexpr entry_point all_entry_points[] = {entry_point::command, entry_point::run, entry_point::pipeline};

task<result<void>> without_value(task<result<redis::reply>> call) {
  co_await or_return(std::move(call));
  co_return {};
}
task<result<void>> without_value(task<replies> call) {
  co_await or_return(std::move(call));
  co_return {};
}

task<result<void>> call(redis::connection& client, entry_point via, redis::words command) {
  if (via == entry_point::command) return without_value(client.command(command[0], command[1]));
  if (via == entry_point::run) return without_value(client.run(command));
  const std::vector<redis::words> both{command, {"GET", "second"}};
  return without_value(client.pipeline(both));
}

struct pair {
  redis::connection client;
  scripted_peer peer;
};
task<pair> connected(scripted_server& server) {
  auto client = co_await server.connect();
  auto peer = co_await server.accept();
  co_return pair{std::move(client), std::move(peer)};
}

// The number of answers that an entry point waits for.
std::size_t answers_of(entry_point via) { return via == entry_point::pipeline ? 2 : 1; }

task<> expect_call(scripted_peer& peer, entry_point via) {
  co_await peer.expect({"GET", "apple"});
  if (via == entry_point::pipeline) co_await peer.expect({"GET", "second"});
}
std::string answers_to(entry_point via) {
  return via == entry_point::pipeline ? bulk("red") + bulk("other") : bulk("red");
}

// Ends the call of GET apple at an entry point, after the server has received it.
task<> abandon(pair& both, entry_point via, ending way) {
  auto ended = end_call(
      way, [&both, via] { return call(both.client, via, {"GET", "apple"}); },
      [&both, via] { return expect_call(both.peer, via); });
  co_await std::move(ended);
}

template <class Body>
void for_each_abandoned_call(Body body) {
  for (const entry_point via : all_entry_points)
    for (const ending way : all_endings) {
      CAPTURE(via);
      CAPTURE(way);
      in_each_kind([&]() -> task<> {
        scripted_server server;
        auto both = co_await connected(server);
        co_await abandon(both, via, way);
        CHECK(both.client.state() == connection_state::awaiting_answers);
        CHECK(both.client.expected() == answers_of(via));
        CHECK_FALSE(both.client.is_idle());
        auto rest = body(both, via);
        co_await std::move(rest);
      });
    }
}

task<> expect_blue(pair& both, std::string late) {
  auto plum = spawn([&] { return answer_to(both.client.command("GET", "plum")); });
  co_await both.peer.expect({"GET", "plum"});
  co_await both.peer.send(late + bulk("blue"));
  CHECK((co_await plum) == "blue");
  CHECK(both.client.state() == connection_state::idle);
}

}  // namespace

TEST_CASE("an answer that arrives after the end of its wait is given to no other command") {
  for_each_abandoned_call([](pair& both, entry_point via) -> task<> {
    co_await both.peer.send(answers_to(via));
    co_await expect_blue(both, "");
  });
}

TEST_CASE("an answer that arrives in one packet with the next one is given to no other command") {
  for_each_abandoned_call([](pair& both, entry_point via) -> task<> { return expect_blue(both, answers_to(via)); });
}

TEST_CASE("an answer whose first half arrived before the end of its wait is given to no other command") {
  for (const ending way : all_endings)
    in_each_kind([&]() -> task<> {
      scripted_server server;
      auto both = co_await connected(server);
      auto ended = end_call(
          way, [&] { return call(both.client, entry_point::run, {"GET", "apple"}); },
          [&]() -> task<> {
            co_await both.peer.expect({"GET", "apple"});
            co_await both.peer.send("$3\r\nre");
          });
      co_await std::move(ended);
      co_await expect_blue(both, "d\r\n");
    });
}

TEST_CASE("several abandoned commands keep their places, and drain() makes the connection idle") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    for (const ending way : all_endings) co_await abandon(both, entry_point::pipeline, way);
    CHECK(both.client.expected() == 6);
    auto drained = spawn([&] { return both.client.drain(); });
    co_await both.peer.send(answers_to(entry_point::pipeline) + answers_to(entry_point::pipeline));
    CHECK_FALSE(drained.done());
    co_await both.peer.send(answers_to(entry_point::pipeline));
    CHECK((co_await drained).has_value());
    CHECK(both.client.is_idle());
    co_await expect_blue(both, "");
  });
}

TEST_CASE("a command that was ended while it is sent is sent to its end before the next one") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    const std::string large(16'000'000, 'z');
    const redis::words command{"SET", "large", large};
    const std::string bytes = encoded(command);
    for (const ending way : all_endings) {
      auto ended = end_call(
          way, [&] { return without_value(both.client.run(command)); },
          [&] { return both.peer.expect_bytes(bytes.substr(0, 100)); });
      co_await std::move(ended);
      CHECK(both.client.state() == connection_state::awaiting_answers);
      auto plum = spawn([&] { return answer_to(both.client.command("GET", "plum")); });
      co_await both.peer.expect_bytes(bytes.substr(100));
      co_await both.peer.expect({"GET", "plum"});
      co_await both.peer.send("+OK\r\n" + bulk("blue"));
      CHECK((co_await plum) == "blue");
    }
  });
}

TEST_CASE("long commands and long answers do not wait for each other") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    const std::string large(16'000'000, 'z');
    const std::vector<redis::words> all(2, redis::words{"ECHO", large});
    auto answers = spawn([&] { return both.client.pipeline(all); });
    co_await both.peer.send(bulk(large) + bulk(large));  // before the server reads
    co_await both.peer.expect(all[0]);
    co_await both.peer.expect(all[1]);
    const replies received = co_await answers;
    REQUIRE(received.has_value());
    CHECK(text_of((*received)[1]) == large);
    CHECK(both.client.state() == connection_state::idle);
  });
}

TEST_CASE("a blocking command that is ended closes its connection, so that the server gives its item to others") {
  const std::vector<redis::words> all{{"BLPOP", "jobs", "0"},
                                      {"brpop", "jobs", "0"},
                                      {"BLMOVE", "a", "b", "LEFT", "RIGHT", "0"},
                                      {"BRPOPLPUSH", "a", "b", "0"},
                                      {"BLMPOP", "0", "1", "a", "LEFT"},
                                      {"BZPOPMIN", "a", "0"},
                                      {"BZPOPMAX", "a", "0"},
                                      {"BZMPOP", "0", "1", "a", "MIN"},
                                      {"XREAD", "COUNT", "1", "block", "0", "STREAMS", "s", "$"},
                                      {"XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"},
                                      {"XREADGROUP", "GROUP", "streams", "c", "BLOCK", "0", "STREAMS", "s", ">"},
                                      {"WAIT", "1", "0"},
                                      {"WAITAOF", "1", "0", "0"}};
  for (const auto& command : all)
    for (const ending way : all_endings) {
      CAPTURE(command[0]);
      in_each_kind([&]() -> task<> {
        scripted_server server;
        auto both = co_await connected(server);
        auto ended = end_call(
            way, [&] { return without_value(both.client.run(command)); }, [&] { return both.peer.expect(command); });
        co_await std::move(ended);
        CHECK(both.client.state() == connection_state::broken);
        CHECK((co_await both.peer.rest()).empty());
        CHECK((co_await both.client.command("PING")).error() == std::errc::connection_reset);
        CHECK_FALSE((co_await both.client.drain()).has_value());
      });
    }
}

TEST_CASE("a blocking command in a pipeline that is ended closes the connection; answered, it leaves it idle") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    const std::vector<redis::words> all{{"GET", "apple"}, {"BLPOP", "jobs", "0"}};
    auto answered = spawn([&] { return both.client.pipeline(all); });
    co_await both.peer.expect(all[0]);
    co_await both.peer.send(bulk("red") + "*2\r\n" + bulk("jobs") + bulk("7"));
    CHECK((co_await answered).has_value());
    CHECK(both.client.state() == connection_state::idle);
    co_await both.peer.expect(all[1]);
    auto ended = end_call(
        ending::cancelled, [&] { return without_value(both.client.pipeline(all)); },
        [&] { return both.peer.expect(all[0]); });
    co_await std::move(ended);
    CHECK(both.client.state() == connection_state::broken);
  });
}

TEST_CASE("an answer too many breaks the connection, and no command gets it") {
  in_each_kind([]() -> task<> {
    for (const bool in_two_packets : {false, true}) {
      scripted_server server;
      auto both = co_await connected(server);
      auto apple = spawn([&] { return answer_to(both.client.command("GET", "apple")); });
      co_await both.peer.expect({"GET", "apple"});
      const std::string answers = in_two_packets ? bulk("red") : bulk("red") + bulk("red");
      co_await both.peer.send(answers);
      CHECK((co_await apple) == "red");
      if (in_two_packets) {
        co_await both.peer.send(bulk("red"));
        while (both.client.is_idle()) static_cast<void>(co_await yield());
      }
      CHECK(both.client.state() != connection_state::idle);
      CHECK_FALSE(both.client.is_idle());
      const auto plum = co_await both.client.command("GET", "plum");
      CHECK_FALSE(plum.has_value());
      CHECK(both.client.state() == connection_state::broken);
    }
  });
}

TEST_CASE("an answer outside of the protocol is protocol_error, and breaks the connection") {
  in_each_kind([]() -> task<> {
    for (const char* const garbage : {"HTTP/1.1 400 Bad Request\r\n\r\n", "\r\n", "$-7\r\n", "*1\r\n!x\r\n"}) {
      scripted_server server;
      auto both = co_await connected(server);
      auto apple = spawn([&] { return both.client.command("GET", "apple"); });
      co_await both.peer.expect({"GET", "apple"});
      co_await both.peer.send(garbage);
      CHECK((co_await apple).error() == std::errc::protocol_error);
      CHECK(both.client.state() == connection_state::broken);
      CHECK((co_await both.client.command("GET", "plum")).error() == std::errc::connection_reset);
    }
  });
}

TEST_CASE("a server that closes or resets in the middle of an answer is an error, and breaks the connection") {
  in_each_kind([]() -> task<> {
    for (const char* const part : {"", "$", "$3\r\nre", "*2\r\n$3\r\nred\r\n"})
      for (const bool resets : {false, true}) {
        scripted_server server;
        auto both = co_await connected(server);
        auto apple = spawn([&] { return both.client.command("GET", "apple"); });
        co_await both.peer.expect({"GET", "apple"});
        if (*part != '\0') co_await both.peer.send(part);
        if (resets) both.peer.reset();
        else both.peer.close();
        CHECK((co_await apple).error() == std::errc::connection_reset);
        CHECK(both.client.state() == connection_state::broken);
        CHECK_FALSE(both.client.is_idle());
      }
  });
}

TEST_CASE("is_idle() sees that the server has closed or reset an idle connection") {
  in_each_kind([]() -> task<> {
    for (const bool resets : {false, true}) {
      scripted_server server;
      auto both = co_await connected(server);
      CHECK(both.client.is_idle());
      if (resets) both.peer.reset();
      else both.peer.close();
      CHECK(both.client.state() == connection_state::idle);  // by our bookkeeping alone
      while (both.client.is_idle()) static_cast<void>(co_await yield());
      CHECK(both.client.state() == connection_state::broken);
    }
  });
}

namespace {

// Answers each ECHO of a token of eight bytes, until the client closes.
task<> echo_tokens(scripted_peer peer) {
  const std::string frame = encoded(redis::words{"ECHO", "00000000"});
  std::string bytes(frame.size(), '\0');
  for (;;) {
    const auto count = co_await peer.stream().read_exactly(bytes);
    if (!count) co_return;
    co_await peer.send(bulk(bytes.substr(bytes.size() - 10, 8)));
  }
}

std::string token_of(int number) {
  const std::string digits = std::to_string(number);
  return std::string(8 - digits.size(), '0') + digits;
}

}  // namespace

TEST_CASE("a command, a pipeline and a drain that are ended after any number of steps: the next answer is right") {
  loop lp;
  auto body = []() -> task<> {
    scripted_server server;
    auto client = co_await server.connect();
    auto accepted = co_await server.accept();
    auto echo = spawn(echo_tokens, std::move(accepted));
    int number = 0;
    for (int steps = 0; steps < 25; ++steps)
      for (const bool kills : {false, true})
        for (int kind = 0; kind < 3; ++kind) {
          CAPTURE(steps);
          CAPTURE(kills);
          CAPTURE(kind);
          const std::string token = token_of(++number), second = token_of(++number), after = token_of(++number);
          auto call = spawn([&]() -> task<> {
            if (kind == 0) static_cast<void>(co_await client.command("ECHO", token));
            if (kind == 2) static_cast<void>(co_await client.drain());
            const std::vector<redis::words> both{{"ECHO", token}, {"ECHO", second}};
            static_cast<void>(co_await client.pipeline(both));
          });
          for (int i = 0; i < steps; ++i) static_cast<void>(co_await yield());
          if (kills) call.kill();
          else call.cancel();
          static_cast<void>(co_await call.join());
          CHECK((co_await answer_to(client.command("ECHO", after))) == after);
          CHECK(client.state() == connection_state::idle);
        }
    {
      const auto ended = std::move(client);
    }
    co_await echo;
  };
  auto handle = spawn(lp, body);
  lp.run();
  sync_wait(handle);
}

TEST_CASE("a ping sends PING; a refusal is an error, and an ended ping leaves the connection in doubt") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto both = co_await connected(server);
    auto answered = spawn([&] { return both.client.ping(); });
    co_await both.peer.expect({"PING"});
    CHECK_FALSE(answered.done());
    co_await both.peer.send("+PONG\r\n");
    CHECK((co_await answered).has_value());
    CHECK(both.client.is_idle());
    auto refused = spawn([&] { return both.client.ping(); });
    co_await both.peer.expect({"PING"});
    co_await both.peer.send("-LOADING no\r\n");
    CHECK((co_await refused).error() == redis::errc::loading);
    auto ended =
        end_call(ending::cancelled, [&] { return both.client.ping(); }, [&] { return both.peer.expect({"PING"}); });
    co_await std::move(ended);
    CHECK(both.client.state() == connection_state::awaiting_answers);
  });
}
