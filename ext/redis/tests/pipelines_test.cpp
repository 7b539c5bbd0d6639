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

// As a cluster does it when the slot of a channel moves. A channel, a pattern and a shard channel may have one name.
TEST_CASE("a subscription that the server ends is a message, and after the last one the session is no subscriber") {
  in_each_kind([]() -> task<> {
    const std::string kinds[] = {"", "p", "s"};
    scripted_server server;
    auto client = co_await server.connect();
    auto peer = co_await server.accept();
    for (const std::string& kind : kinds) {
      const std::string begin = kind + "subscribe";
      auto subscribed = spawn([&] { return client.command(begin, "a"); });
      co_await peer.expect({begin, "a"});
      co_await peer.send("*3\r\n" + bulk(begin) + bulk("a") + ":1\r\n");
      CHECK((co_await subscribed).has_value());
    }
    for (const std::string& kind : kinds) {
      CHECK(client.state() == connection_state::subscribed);
      const std::string end = kind + "unsubscribe";
      co_await peer.send("*3\r\n" + bulk(end) + bulk("a") + ":0\r\n");
      const auto message = co_await client.next();
      CHECK(std::string(message.value()->element[0]->str) == end);
    }
    CHECK(client.state() == connection_state::idle);
  });
}
