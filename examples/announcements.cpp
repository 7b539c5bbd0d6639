// A service from main() to SIGTERM: settings from a file, a server, a ticker, a reload on SIGHUP, children, a drain and
// a report. docs/service.md explains it part by part.
//
//   example_announcements settings.txt
//   settings.txt:  listen 127.0.0.1:7000
//                  text The library is open until six.
//                  connections 1000
//
// A client sends lines: "GET" for the text, "FOLLOW" for the text now and after each change, "DATE" for what date(1)
// says, "STATS" for the numbers of the ticker.
#include <hocket/net.hpp>
#include <hocket/stackless.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

using namespace hocket;
using namespace std::chrono_literals;

// --- settings

struct settings {
  std::string listen = "127.0.0.1:0", text = "nothing to announce";
  std::size_t connections = 1000;
};

// Lines of a name and a value. False: one is neither.
bool read_line(settings& into, std::string_view line) {
  const std::size_t space = line.find(' ');
  if (line.empty()) return true;
  if (space == std::string_view::npos) return false;
  const std::string_view name = line.substr(0, space), value = line.substr(space + 1);
  if (name == "listen") return into.listen = value, true;
  if (name == "text") return into.text = value, true;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into.connections);
  return name == "connections" && error == std::errc() && end == value.data() + value.size();
}

task<result<settings>> load(std::string path) {
  const std::string text = co_await or_return(read_file(path));
  settings loaded;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (!read_line(loaded, rest.substr(0, end))) co_return failure(std::errc::invalid_argument);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  co_return loaded;
}

// --- what all connections share

struct board {
  explicit board(settings first) : current(std::move(first)) {}

  watch<settings> current;
  std::atomic<std::size_t> requests{0};
  std::atomic<std::size_t> requests_per_second{0};  // by the ticker
};

// --- connections

// Until the client leaves, or the server drains: then it says goodbye.
task<result<void>> follow(tcp::stream& peer, board& shared) {
  auto changes = shared.current.subscribe();
  for (;;) {
    auto first = co_await or_return(select(changes.receive(), peer.drain_requested(), peer.closed()));
    if (first.index() == 1) co_await or_return(peer.write_all("the service is restarting\n"));
    if (first.index() != 0) co_return {};
    const settings now = co_await or_return(std::move(first).get<0>());
    co_await or_return(peer.write_all(now.text + "\n"));
  }
}

// date(1) is killed with what it has started, if it takes longer than ten seconds, or if the client's coroutine ends.
task<result<std::string>> ask_for_date() {
  process date = co_await or_return(
      process::start({"date", "-u"}, {.out = process::pipe, .new_group = true, .kill_on_destruction = true}));
  co_return co_await within(10s, read_all(date.out(), 1024));
}

task<result<void>> answer(tcp::stream& peer, board& shared, std::string request) {
  ++shared.requests;
  if (request == "GET") co_await or_return(peer.write_all(shared.current.get().text + "\n"));
  else if (request == "FOLLOW") co_await or_return(follow(peer, shared));
  else if (request == "DATE") co_await or_return(peer.write_all(co_await or_return(ask_for_date())));
  else if (request == "STATS")
    co_await or_return(peer.write_all(std::to_string(shared.requests_per_second) + " requests in the last second\n"));
  else co_await or_return(peer.write_all("GET, FOLLOW, DATE or STATS\n"));
  co_return {};
}

// An idle connection ends at once when the server drains, and after ten minutes.
task<result<void>> serve_client(tcp::stream peer, board& shared) {
  buffered_reader reader(peer, 1024);
  while (co_await or_return(within(10min, reader.wait_for_message()))) {
    const auto line = co_await or_return(within(10s, reader.read_line()));
    if (!line) break;
    co_await or_return(answer(peer, shared, std::string(*line)));
  }
  co_return {};
}

void log_error(const socket_address& peer, std::error_code error, const std::exception_ptr&) noexcept {
  std::fprintf(stderr, "%s: %s\n", peer.to_string().c_str(), error.message().c_str());
}

// --- daemons: they hold no drain, and end with the service

task<> count_each_second(board& shared) {
  interval seconds(1s);
  for (std::size_t before = 0; co_await seconds.tick();) {
    const std::size_t now = shared.requests;
    shared.requests_per_second = now - before;
    before = now;
  }
}

// A file with a mistake changes nothing.
task<> reload_on_hangup(signal_set& hangups, board& shared, tcp::server& server, std::string path) {
  while (co_await hangups.next()) {
    result<settings> loaded = co_await within(5s, load(path));
    if (!loaded) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), loaded.error().message().c_str());
      continue;
    }
    server.set_max_connections(loaded->connections);
    shared.current.set(std::move(*loaded));
    std::fprintf(stderr, "settings are reloaded\n");
  }
}

int main(int argc, char** argv) {
  signal_set ends{SIGTERM, SIGINT}, hangups{SIGHUP};  // first of all: signals during the start are received, too
  if (argc != 2) return std::fprintf(stderr, "usage: %s SETTINGS\n", argv[0]), 2;
  result<settings> first = sync_wait(load(argv[1]));
  if (!first) return std::fprintf(stderr, "%s: %s\n", argv[1], first.error().message().c_str()), 2;

  board shared(*first);  // before the runtime, since its coroutines refer to it
  runtime rt;
  auto server = tcp::serve(rt, first->listen, {.max_connections = first->connections, .on_error = log_error},
                           serve_client, std::ref(shared));
  if (!server) return std::fprintf(stderr, "%s: %s\n", first->listen.c_str(), server.error().message().c_str()), 1;
  spawn(rt, {.name = "ticker", .daemon = true}, count_each_second, std::ref(shared));
  spawn(rt, {.name = "reload", .daemon = true}, reload_on_hangup, std::ref(hangups), std::ref(shared),
        std::ref(*server), std::string(argv[1]));

  service all(rt);
  all.add(*server);
  std::printf("listening at %s\n", server->local_address().to_string().c_str());
  std::fflush(stdout);
  const service_report report = all.run_until(ends, {.drain = 10s});
  std::fputs(report.to_string().c_str(), stderr);
  return report.exit_code();
}
