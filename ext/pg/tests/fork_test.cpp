// A child by fork(): the connections of the parent are broken there, and the parent's go on.
#include "scripted_server.hpp"

#include <optional>
#include <sys/wait.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<int> count_wrong_in_child(pg::connection& client, std::optional<pg::transaction>& open) {
  const std::string_view values[] = {"x"};
  const pg::statement all[] = {{"$1", values}};
  int wrong = client.state() != connection_state::broken;
  wrong += client.is_idle();
  wrong += pg::is_idle(client);
  wrong += (co_await client.query("child")).error() != pg::errc::forked;
  wrong += (co_await client.query("child", "x")).error() != pg::errc::forked;
  wrong += (co_await client.prepare("child", "child")).error() != pg::errc::forked;
  wrong += (co_await client.execute("child")).error() != pg::errc::forked;
  wrong += (co_await client.pipeline(all)).error() != pg::errc::forked;
  wrong += (co_await pg::begin(client)).error() != pg::errc::forked;
  wrong += (co_await client.drain()).error() != pg::errc::forked;
  if (open) wrong += (co_await open->commit()).error() != pg::errc::forked;
  const int fd = PQsocket(client.native());
  open.reset();
  {
    const pg::connection last = std::move(client);
  }
  wrong += ::close(fd) != -1;  // the destructor has closed it
  co_return wrong;
}

// Forks. The child makes its checks, and ends.
task<> fork_with(pg::connection& client, std::optional<pg::transaction>& open) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(co_await count_wrong_in_child(client, open));
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace

TEST_CASE("in a child each call on an idle connection is refused, and its destructor sends nothing") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    std::optional<pg::transaction> none;
    co_await fork_with(client, none);
    auto query = spawn([&]() -> task<std::string> { co_return value_of((co_await client.query("parent")).value()); });
    const pg_request request = co_await peer.request();
    CHECK(request.types() == "Q");
    co_await peer.answer(request, "own");
    CHECK((co_await query) == "own");
  });
}

TEST_CASE("in a child each call is refused in a transaction, too") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto serve = spawn([&]() -> task<> { return peer.serve(); });
    std::optional<pg::transaction> open((co_await pg::begin(client)).value());
    co_await fork_with(client, open);
    CHECK(client.state() == connection_state::in_transaction);
    CHECK((co_await open->commit()).has_value());
    CHECK(client.is_idle());
    open.reset();
    {
      const pg::connection last = std::move(client);
    }
    co_await serve;
  });
}

TEST_CASE("in a child each call is refused while an answer is outstanding, and no cancel request is sent") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto query = spawn([&]() -> task<std::string> { co_return value_of((co_await client.query("parent")).value()); });
    const pg_request request = co_await peer.request();
    std::optional<pg::transaction> none;
    co_await fork_with(client, none);
    co_await peer.answer(request, "own");
    CHECK((co_await query) == "own");
    CHECK(client.is_idle());
  });
}

TEST_CASE("in a child each call is refused during a COPY") {
  run_script([]() -> task<> {
    scripted_server server;
    auto [client, peer] = co_await connect_both(server);
    auto query = spawn([&]() -> task<> { static_cast<void>(co_await client.query("copy t from stdin")); });
    static_cast<void>(co_await peer.request());
    co_await peer.send(message('G', std::string(1, '\0') + int16_bytes(1) + int16_bytes(0)));
    co_await query;
    std::optional<pg::transaction> none;
    co_await fork_with(client, none);
    CHECK(client.state() == connection_state::copying);
    CHECK(PQputCopyEnd(client.native(), nullptr) == 1);
    CHECK(PQflush(client.native()) == 0);
    CHECK((co_await peer.next()).type == 'c');
  });
}
