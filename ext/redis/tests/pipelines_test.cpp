// Pipelines of none and of one command; and a subscription that the server ends.
#include "scripted_server.hpp"

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a pipeline of one command has its answer, and one of none sends nothing") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    auto client = co_await server.connect();
    auto peer = co_await server.accept();
    const std::vector<redis::words> none, single{{"GET", "apple"}};
    CHECK((co_await client.pipeline(none)).value().empty());
    CHECK(client.expected() == 0);
    auto answers = spawn([&] { return client.pipeline(single); });
    co_await peer.expect({"GET", "apple"});
    co_await peer.send(bulk("red"));
    const auto received = co_await answers;
    REQUIRE(received.value().size() == 1);
    CHECK(std::string((*received)[0]->str) == "red");
    CHECK(client.is_idle());
  });
}

// As a cluster does it when the slot of a channel moves.
TEST_CASE("a subscription that the server ends is a message, and the session is a subscriber no more") {
  in_each_kind([]() -> task<> {
    for (const std::string name : {"", "p", "s"}) {
      CAPTURE(name);
      scripted_server server;
      auto client = co_await server.connect();
      auto peer = co_await server.accept();
      const std::string begin = name + "subscribe", end = name + "unsubscribe";
      auto subscribed = spawn([&] { return client.command(begin, "a"); });
      co_await peer.expect({begin, "a"});
      co_await peer.send("*3\r\n" + bulk(begin) + bulk("a") + ":1\r\n");
      CHECK((co_await subscribed).has_value());
      CHECK(client.state() == connection_state::subscribed);
      co_await peer.send("*3\r\n" + bulk(end) + bulk("a") + ":0\r\n");
      const auto message = co_await client.next();
      CHECK(std::string(message.value()->element[0]->str) == end);
      CHECK(client.state() == connection_state::idle);
    }
  });
}
