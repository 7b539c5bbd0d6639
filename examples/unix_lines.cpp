// A line protocol over a unix socket, as daemons have for their administrators: each line is a command, each answer a
// line. The server is a task, and a client is a fiber: both use the same reader.
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <unistd.h>

using namespace hocket;
using namespace std::chrono_literals;

struct daemon_state {
  std::string level = "info";
};

std::string obey(daemon_state& of, std::string_view command) {
  if (command == "level") return of.level;
  if (!command.starts_with("level ")) return "what?";
  of.level = command.substr(6);
  return "ok";
}

task<result<void>> administrate(tcp::stream peer, daemon_state& of) {
  buffered_reader reader(peer);
  while (auto line = co_await or_return(reader.read_line())) {
    const std::string answer = obey(of, *line) + "\n";
    co_await or_return(peer.write_all(answer));
  }
  co_return {};
}

// What a command line tool does.
std::string ask(const socket_address& where, std::string_view command) {
  auto daemon = await(within(3s, tcp::connect(where)));
  if (!daemon) return daemon.error().message();
  buffered_reader reader(*daemon);
  static_cast<void>(await(daemon->write_all(std::string(command) + "\n")));
  auto line = await(reader.read_line());
  return line && *line ? std::string(**line) : "the daemon has gone";
}

int main() {
  const std::string where = "unix:@hocket_lines_" + std::to_string(::getpid());  // an abstract one: no file
  daemon_state state;
  loop lp;
  auto server = tcp::serve(lp, where, administrate, std::ref(state)).value();
  auto client = spawn(lp, [&] {
    const bool right = ask(where, "level") == "info" && ask(where, "level debug") == "ok" &&
                       ask(where, "level") == "debug" && ask(where, "jump") == "what?";
    static_cast<void>(await(server.graceful_shutdown({.drain = 1s})));
    return right;
  });
  lp.run();
  return sync_wait(client) ? 0 : 1;
}
