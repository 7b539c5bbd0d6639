// A small Redis: GET, SET and EXPIRE, spoken as redis-cli speaks. One loop has the data, so nothing is locked.
//
//   example_small_redis 127.0.0.1:6379 &
//   redis-cli set name hocket
#include <hocket/stackless.hpp>
#include <hocket/net.hpp>
#include <csignal>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

struct entry {
  std::string value;
  time_point until = time_point::max();
};
using store = std::map<std::string, entry, std::less<>>;
using command = std::vector<std::string>;

// "*2\r\n$3\r\nGET\r\n$4\r\nname\r\n". Empty: the client has gone.
task<result<command>> read_command(buffered_reader<timeout_stream<tcp::stream>>& from) {
  command words;
  auto line = co_await or_return(from.read_line());
  const std::size_t count = line && line->starts_with('*') ? std::stoul(std::string(line->substr(1))) : 0;
  while (words.size() < count) {
    line = co_await or_return(from.read_line());
    if (!line || !line->starts_with('$')) co_return failure(std::errc::protocol_error);
    const std::size_t size = std::stoul(std::string(line->substr(1)));
    words.emplace_back(co_await or_return(from.read_exactly(size + 2)), 0, size);
  }
  co_return words;
}

std::string answer(store& all, const command& asked) {
  auto found = asked.size() < 2 ? all.end() : all.find(asked[1]);
  if (found != all.end() && found->second.until <= steady_clock().now()) found = all.erase(found), found = all.end();
  if (asked[0] == "SET" && asked.size() == 3) return all[asked[1]] = {asked[2]}, "+OK\r\n";
  if (asked[0] == "GET" && found == all.end()) return "$-1\r\n";
  if (asked[0] == "GET") return "$" + std::to_string(found->second.value.size()) + "\r\n" + found->second.value + "\r\n";
  if (asked[0] != "EXPIRE" || asked.size() != 3) return "-ERR unknown command\r\n";
  if (found != all.end()) found->second.until = steady_clock().now() + std::chrono::seconds(std::stoi(asked[2]));
  return found != all.end() ? ":1\r\n" : ":0\r\n";
}

task<result<void>> serve_client(tcp::stream peer, store& all) {
  timeout_stream patient(peer, 5min);
  buffered_reader reader(patient);
  buffered_writer writer(peer);
  for (;;) {
    const bool more = co_await or_return(reader.wait_for_message());
    if (!more) co_return {};
    const command asked = co_await or_return(read_command(reader));
    if (asked.empty()) co_return {};
    writer.append(answer(all, asked));
    if (reader.unread().empty()) co_await or_return(writer.flush());  // a pipeline is answered by one write
  }
}

int main(int argc, char** argv) {
  loop lp;
  store all;
  auto server = tcp::serve(lp, argc > 1 ? argv[1] : "127.0.0.1:6379", serve_client, std::ref(all)).value();
  server.run_until({SIGTERM, SIGINT}, {.drain = 1s});  // clients that are idle are told so at once
}
