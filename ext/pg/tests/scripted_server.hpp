// A PostgreSQL server in the test itself: protocol 3 on loopback, every step by hand, so the test decides what is sent
// before, at and after the end of a client's wait. Client and server are coroutines of one loop.
//
//   scripted_server server;
//   auto [client, peer] = co_await connect_both(server);
//   auto running = spawn([&]() -> task<> { ... client.query("select 'x'") ... });
//   const pg_request request = co_await peer.request();       // read whole; nothing was answered
//   co_await peer.answer(request, "x");
//
// An answer has one row of one column. serve() and run() answer everything; then the value is the last parameter of the
// statement, or its text.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/pg/connection.hpp>
#include <hocket/pg/transaction.hpp>
#include <hocket/runtime/loop.hpp>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <tuple>
#include <vector>

namespace hocket_test {

// --- the bytes of the protocol

inline std::string int32_bytes(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}
inline std::string int16_bytes(std::uint32_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value)};
}
inline std::uint32_t read_int32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}
inline std::string zero_terminated(std::string_view text) { return std::string(text) + '\0'; }
inline std::string message(char type, std::string_view body) {
  return type + int32_bytes(static_cast<std::uint32_t>(body.size() + 4)) + std::string(body);
}
inline std::string ready(char status) { return message('Z', std::string(1, status)); }
inline std::string row_description() {
  return message('T', int16_bytes(1) + zero_terminated("v") + int32_bytes(0) + int16_bytes(0) + int32_bytes(25) +
                          int16_bytes(0xffff) + int32_bytes(0xffffffff) + int16_bytes(0));
}
inline std::string data_row(std::string_view value) {
  return message('D', int16_bytes(1) + int32_bytes(static_cast<std::uint32_t>(value.size())) + std::string(value));
}
inline std::string complete(std::string_view tag) { return message('C', zero_terminated(tag)); }
// An ErrorResponse ('E') or a NoticeResponse ('N').
inline std::string report(char type, std::string_view severity, std::string_view state, std::string_view text) {
  std::string body;
  for (const auto& [field, value] : std::initializer_list<std::pair<char, std::string_view>>{
           {'S', severity}, {'V', severity}, {'C', state}, {'M', text}})
    body += field + zero_terminated(value);
  return message(type, body + '\0');
}
inline std::string error(std::string_view state, std::string_view text) { return report('E', "ERROR", state, text); }
inline std::string welcome(std::uint32_t pid, std::uint32_t key) {
  return message('R', int32_bytes(0)) + message('S', zero_terminated("server_version") + zero_terminated("15.0")) +
         message('S', zero_terminated("client_encoding") + zero_terminated("UTF8")) +
         message('K', int32_bytes(pid) + int32_bytes(key)) + ready('I');
}

// --- what a client has sent, up to a Query, a Sync, a Terminate, or the end of the stream

struct pg_message {
  char type = 0;  // 0: the end of the stream
  std::string body;
};

struct pg_request {
  std::vector<pg_message> messages;

  std::string types() const {
    std::string all;
    for (const pg_message& each : messages) all += each.type;
    return all;
  }
  bool is_end() const { return messages.empty() || messages.back().type == 'X' || messages.back().type == 0; }
  // The text of the last Query or Parse.
  std::string text() const {
    std::string last;
    for (const pg_message& each : messages) {
      if (each.type == 'Q') last = each.body.c_str();
      if (each.type == 'P') last = each.body.c_str() + std::strlen(each.body.c_str()) + 1;
    }
    return last;
  }
};

// The last parameter of a Bind; "NULL" for NULL; the empty text without parameters.
inline std::string last_parameter(const std::string& bind) {
  std::size_t at = std::strlen(bind.c_str()) + 1;
  at += std::strlen(bind.c_str() + at) + 1;
  const auto short_at = [&](std::size_t place) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bind.at(place)) << 8 |
                                    static_cast<unsigned char>(bind.at(place + 1)));
  };
  at += 2 + 2 * short_at(at);
  const std::size_t count = short_at(at);
  at += 2;
  std::string last;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t size = read_int32(bind, at);
    at += 4;
    last = size == 0xffffffff ? "NULL" : bind.substr(at, size);
    if (size != 0xffffffff) at += size;
  }
  return last;
}

// The session of a client, at the server.
class pg_peer {
 public:
  pg_peer() = default;
  explicit pg_peer(hocket::tcp::stream stream) : stream_(std::move(stream)) {}

  hocket::task<pg_message> next() {
    std::string head(5, '\0');
    if (!co_await stream_.read_exactly(hocket::mutable_buffer(head.data(), head.size()))) co_return pg_message{};
    std::string body(read_int32(head, 1) - 4, '\0');
    if (!body.empty() && !co_await stream_.read_exactly(hocket::mutable_buffer(body.data(), body.size())))
      co_return pg_message{};
    co_return pg_message{head[0], std::move(body)};
  }
  hocket::task<pg_request> request() {
    pg_request all;
    do all.messages.push_back(co_await next());
    while (std::string_view("QSXf\0", 5).find(all.messages.back().type) == std::string_view::npos);
    co_return all;
  }

  hocket::task<bool> send(std::string bytes) {
    co_return (co_await stream_.write_all(hocket::const_buffer(bytes.data(), bytes.size()))).has_value();
  }
  hocket::task<bool> answer(const pg_request& to, std::string value) { return send(answer_to(to, std::move(value))); }

  // The whole answer to a request. An empty value: the last parameter, or the text.
  std::string answer_to(const pg_request& request, const std::string& value = {}) {
    std::string bytes, own = value;
    for (const pg_message& each : request.messages) bytes += answer_to(each, own, value.empty());
    return bytes;
  }

  // Answers each request, until the client ends.
  hocket::task<> serve() {
    for (pg_request next = co_await request(); !next.is_end(); next = co_await request())
      if (!co_await send(answer_to(next))) co_return;
  }

  void close() { stream_ = {}; }
  hocket::tcp::stream& stream() { return stream_; }
  char status = 'I';  // of the transaction

 private:
  std::string answer_to(const pg_message& each, std::string& value, bool echoes) {
    switch (each.type) {
      case 'Q': {
        if (echoes) value = each.body.c_str();
        const std::string bytes = run(each.body.c_str(), value);  // may change the status
        return bytes + ready(status);
      }
      case 'P':
        if (echoes) value = each.body.c_str() + std::strlen(each.body.c_str()) + 1;
        return message('1', "");
      case 'B':
        if (const std::string last = last_parameter(each.body); echoes && !last.empty()) value = last;
        return message('2', "");
      case 'D': return row_description();
      case 'E': return data_row(value) + complete("SELECT 1");
      case 'S': return ready(status);
      default: return {};
    }
  }
  std::string run(std::string_view text, const std::string& value) {
    if (text.starts_with("BEGIN")) return status = 'T', complete("BEGIN");
    if (text == "COMMIT") return complete(std::exchange(status, 'I') == 'E' ? "ROLLBACK" : "COMMIT");
    if (text == "ROLLBACK") return status = 'I', complete("ROLLBACK");
    return row_description() + data_row(value) + complete("SELECT 1");
  }

  hocket::tcp::stream stream_;
};

// A cancel request. The client waits for the end of its stream.
struct cancel_packet {
  std::uint32_t pid = 0;
  std::uint32_t key = 0;
  hocket::tcp::stream stream;
};

class scripted_server {
 public:
  static constexpr std::uint32_t pid = 4711, key = 0x1badcafe;

  scripted_server()
      : listener_(hocket::tcp::listener::bind(hocket::socket_address::loopback_v4(0)).value()),
        port_(listener_.local_address().port()) {}

  std::string where(const std::string& more = {}) const {
    return "host=127.0.0.1 user=u dbname=d sslmode=disable gssencmode=disable port=" + std::to_string(port_) + " " +
           more;
  }
  int port() const { return port_; }

  hocket::task<hocket::tcp::stream> accept() { co_return (co_await listener_.accept()).value(); }

  // A session: reads the startup packet. Nothing is answered.
  hocket::task<pg_peer> accept_startup() {
    hocket::tcp::stream stream = co_await accept();
    CHECK((co_await read_startup(stream)).substr(0, 4) == int32_bytes(196608));
    co_return pg_peer(std::move(stream));
  }
  hocket::task<pg_peer> accept_session() {
    pg_peer peer = co_await accept_startup();
    co_await peer.send(welcome(pid, key));
    co_return peer;
  }
  hocket::task<cancel_packet> accept_cancel() {
    hocket::tcp::stream stream = co_await accept();
    const std::string packet = co_await read_startup(stream);
    co_return cancel_in(packet, std::move(stream));
  }

  // Serves each session and each cancel request, until close().
  hocket::task<> run() {
    for (;;) {
      auto accepted = co_await listener_.accept();
      if (!accepted) co_return;
      static_cast<void>(hocket::spawn([this, stream = std::move(*accepted)]() mutable -> hocket::task<> {
        return serve_one(*this, std::move(stream));
      }));
    }
  }
  void close() { listener_ = {}; }
  int sessions() const { return sessions_; }
  int cancels() const { return cancels_; }

 private:
  static hocket::task<std::string> read_startup(hocket::tcp::stream& stream) {
    std::string head(4, '\0');
    if (!co_await stream.read_exactly(hocket::mutable_buffer(head.data(), head.size()))) co_return std::string(8, 'x');
    std::string body(read_int32(head, 0) - 4, '\0');
    if (!co_await stream.read_exactly(hocket::mutable_buffer(body.data(), body.size()))) co_return std::string(8, 'x');
    co_return body;
  }
  static cancel_packet cancel_in(const std::string& packet, hocket::tcp::stream stream) {
    CHECK(packet.substr(0, 4) == int32_bytes(80877102));
    if (packet.size() < 12) return {};
    return {read_int32(packet, 4), read_int32(packet, 8), std::move(stream)};
  }
  static hocket::task<> serve_one(scripted_server& self, hocket::tcp::stream stream) {
    const std::string packet = co_await read_startup(stream);
    if (packet.substr(0, 4) == int32_bytes(80877102)) {
      ++self.cancels_;
      co_return;
    }
    ++self.sessions_;
    pg_peer peer(std::move(stream));
    co_await peer.send(welcome(pid, key));
    co_await peer.serve();
  }

  hocket::tcp::listener listener_;
  int port_;
  int sessions_ = 0;
  int cancels_ = 0;
};

struct both_ends {
  hocket::pg::connection client;
  pg_peer peer;
};
inline hocket::task<both_ends> connect_both(scripted_server& server) {
  auto both = co_await hocket::when_all(hocket::pg::connect(server.where()), server.accept_session());
  auto& [client, peer] = both.value();
  co_return both_ends{std::move(client), std::move(peer)};
}

// Runs the task on a loop to its end. A wait that would last for ever fails after 30 s.
template <class F>
void run_script(F body) {
  hocket::loop lp;
  auto only = hocket::spawn(lp, [&]() -> hocket::task<> {
    const auto ended = co_await hocket::within(std::chrono::seconds(30), body());
    CHECK(ended.has_value());
  });
  lp.run_until(only);
  hocket::sync_wait(only);
}

// Lets the others run until the condition holds. False: it does not hold after 30 s.
template <class F>
hocket::task<bool> eventually(F condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) co_return false;
    static_cast<void>(co_await hocket::yield());
  }
  co_return true;
}

inline std::string value_of(const hocket::pg::rows& answer) {
  return PQntuples(answer.get()) == 0 ? "none" : PQgetvalue(answer.get(), 0, 0);
}

}  // namespace hocket_test
