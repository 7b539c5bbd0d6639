// A server of HTTP on a network in memory, in virtual time, and clients that send bytes and read bytes.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/http/access_log.hpp>
#include <hocket/http/body_writer.hpp>
#include <hocket/http/request_body.hpp>
#include <hocket/http/server.hpp>
#include <hocket/http/upgrade.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hocket_test {

using namespace hocket;
using namespace std::chrono_literals;

struct answer {
  int status = 0;
  std::map<std::string, std::string> fields;  // names in lower case; repeated lines joined by ", "
  std::string body;
  bool is_complete = true;

  std::string field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second;
  }
};

// Reads a sequence of answers as a client does. `no_body`: to a HEAD.
class answer_reader {
 public:
  explicit answer_reader(std::string_view bytes) : rest_(bytes) {}

  std::optional<answer> next(bool no_body = false) {
    const std::size_t end = rest_.find("\r\n\r\n");
    if (end == std::string_view::npos) return std::nullopt;
    answer read;
    read_head(read, rest_.substr(0, end));
    rest_.remove_prefix(end + 4);
    if (no_body || read.status < 200 || read.status == 204 || read.status == 304) return read;
    if (read.field("transfer-encoding") == "chunked") read_chunks(read);
    else if (read.fields.contains("content-length")) read_length(read);
    else read.body = std::exchange(rest_, {});
    return read;
  }
  std::string_view rest() const { return rest_; }

 private:
  static void read_head(answer& to, std::string_view head) {
    CHECK(head.starts_with("HTTP/1.1 "));
    to.status = std::stoi(std::string(head.substr(9, 3)));
    std::size_t at = head.find("\r\n");
    while (at != std::string_view::npos) {
      head.remove_prefix(at + 2);
      at = head.find("\r\n");
      const std::string_view line = head.substr(0, at);
      const std::size_t colon = line.find(": ");
      if (colon == std::string_view::npos) continue;
      std::string name(line.substr(0, colon));
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return char(std::tolower(c)); });
      std::string& value = to.fields[name];
      value += (value.empty() ? "" : ", ") + std::string(line.substr(colon + 2));
    }
  }
  void read_length(answer& to) {
    const std::size_t size = std::stoul(to.field("content-length"));
    to.is_complete = rest_.size() >= size;
    to.body = rest_.substr(0, size);
    rest_.remove_prefix(to.body.size());
  }
  void read_chunks(answer& to) {
    for (;;) {
      const std::size_t line = rest_.find("\r\n");
      std::size_t size = 0;
      if (line != std::string_view::npos) std::from_chars(rest_.data(), rest_.data() + line, size, 16);
      if (line == std::string_view::npos || rest_.size() < line + 2 + size + 2) {
        to.is_complete = false;
        rest_ = {};
        return;
      }
      to.body += rest_.substr(line + 2, size);
      rest_.remove_prefix(line + 2 + size + 2);
      if (size == 0) return;
    }
  }

  std::string_view rest_;
};

inline std::vector<answer> read_answers(std::string_view bytes) {
  answer_reader reader(bytes);
  std::vector<answer> all;
  while (std::optional<answer> next = reader.next()) all.push_back(std::move(*next));
  return all;
}

inline std::vector<int> statuses_of(std::string_view bytes) {
  std::vector<int> all;
  for (const answer& each : read_answers(bytes)) all.push_back(each.status);
  return all;
}

// How a client sends its bytes.
struct sending {
  std::size_t piece = static_cast<std::size_t>(-1);  // bytes of a write
  duration pause{};                                  // behind each piece
  bool half_closes = false;                          // behind the last byte
};

// What a client has read until the end of the stream, and when that was, since its first byte.
struct conversation {
  std::string bytes;
  duration time{};
  std::error_code error{};
};

// An idle connection ends at most a 40th of the limit late, a phase at most a second.
inline bool is_idle_time(duration time, duration limit) { return time >= limit && time <= limit + limit / 40; }
inline bool is_phase_time(duration time, duration limit) { return time >= limit && time <= limit + 1s; }

class world {
 public:
  explicit world(http::router routes, http::serve_options options = {}, memory_options network = {})
      : net_(with_clock(network)) {
    server.emplace(http::serve(lp, net_.listen("10.0.0.1:80").value(), options, std::move(routes)).value());
  }
  ~world() {
    run(end_server());
    server.reset();
  }

  // Runs a task on the loop to its end.
  template <class T>
  T run(task<T> body) {
    task<T> stored = std::move(body);
    auto handle = spawn(lp, [&stored]() -> task<T> { co_return co_await std::move(stored); });
    lp.run_until(handle);
    if constexpr (std::is_void_v<T>) sync_wait(std::move(handle));
    else return sync_wait(std::move(handle));
  }

  task<tcp::stream> connect() {
    result<tcp::stream> peer = co_await net_.connect("10.0.0.1:80");
    co_return std::move(peer).value();
  }

  // Sends the bytes and reads to the end of the stream: until the server closes, for instance an idle connection.
  conversation talk(std::string_view bytes, sending mode = {}) { return run(talk_to(bytes, mode)); }
  std::string ask(std::string_view bytes, sending mode = {}) { return talk(bytes, mode).bytes; }

  task<conversation> talk_to(std::string_view bytes, sending mode) {
    tcp::stream peer = co_await connect();
    const time_point begin = clock.now();
    conversation reply;
    auto sender = spawn([&]() -> task<> {
      while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, mode.piece);
        const result<std::size_t> sent = co_await peer.write_all(piece);
        if (!sent) co_return;
        bytes.remove_prefix(piece.size());
        if (mode.pause != 0s) static_cast<void>(co_await sleep_for(mode.pause));
      }
      if (mode.half_closes) static_cast<void>(peer.shutdown_write());
    });
    reply = co_await read_to_end(peer);
    reply.time = clock.now() - begin;
    sender.cancel();
    static_cast<void>(co_await sender.join());
    co_return reply;
  }
  static task<conversation> read_to_end(tcp::stream& peer) {
    conversation reply;
    std::vector<char> buffer(std::size_t{1} << 16);
    for (;;) {
      const result<std::size_t> n = co_await peer.read_some(buffer);
      if (!n) reply.error = n.error();
      if (!n || *n == 0) co_return reply;
      reply.bytes.append(buffer.data(), *n);
    }
  }

  // A client sends all requests in one write. When `begun` is set, another one sends `other`. Runs until `other` is
  // answered.
  void ask_beside_busy_client(std::string_view requests, event& begun, std::string_view other) {
    run([](world& in, std::string_view all, event& start, std::string_view last) -> task<> {
      tcp::stream busy = co_await in.connect();
      tcp::stream peer = co_await in.connect();
      static_cast<void>(co_await busy.write_all(all));
      static_cast<void>(co_await start.wait());
      static_cast<void>(co_await peer.write_all(last));
      std::vector<char> buffer(4096);
      static_cast<void>(co_await peer.read_some(buffer));
    }(*this, requests, begun, other));
  }

  manual_clock clock;
  loop lp{{.clock = &clock}};

 private:
  memory_options with_clock(memory_options options) {
    options.clock = &clock;
    return options;
  }
  task<> end_server() { static_cast<void>(co_await server->graceful_shutdown({})); }

  memory_network net_;

 public:
  std::optional<http::server> server;
};

}  // namespace hocket_test
