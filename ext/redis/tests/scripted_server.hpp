// A Redis server in the test itself: each step of its script is awaited, so the test orders answers and ends of waits.
//
//   scripted_server server;
//   auto client = co_await server.connect();             // the connection under test
//   auto peer = co_await server.accept();                // its other end
//   co_await peer.expect({"GET", "apple"});
//   co_await peer.send("$3\r\nred\r\n");
#pragma once
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/redis/connection.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <chrono>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace hocket_test {

inline std::string encoded(const hocket::text_list& command) {
  std::string bytes = "*" + std::to_string(command.size()) + "\r\n";
  for (std::size_t i = 0; i < command.size(); ++i)
    bytes += "$" + std::to_string(command[i].size()) + "\r\n" + std::string(command[i]) + "\r\n";
  return bytes;
}

inline std::string bulk(const std::string& text) { return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n"; }

class scripted_peer {
 public:
  explicit scripted_peer(hocket::tcp::stream stream) noexcept : stream_(std::move(stream)) {}

  // Reads one command, which must be this one.
  hocket::task<> expect(const hocket::text_arguments& command) { return expect_bytes(encoded(command.list())); }
  hocket::task<> expect_bytes(std::string expected) {
    std::string bytes(expected.size(), '\0');
    const auto count = co_await stream_.read_exactly(bytes);
    CHECK(count.has_value());
    CHECK(bytes == expected);
  }
  hocket::task<> send(std::string bytes) { CHECK((co_await stream_.write_all(bytes)).has_value()); }
  // Reads up to the end, which is a close or a reset.
  hocket::task<std::string> rest() {
    std::string bytes, part(4096, '\0');
    while (auto count = co_await stream_.read_some(part)) {
      if (*count == 0) break;
      bytes.append(part, 0, *count);
    }
    co_return bytes;
  }
  void close() noexcept { stream_.close(); }
  void reset() {
    static_cast<void>(stream_.set_reset_on_close(true));
    stream_.close();
  }
  hocket::tcp::stream& stream() noexcept { return stream_; }

 private:
  hocket::tcp::stream stream_;
};

class scripted_server {
 public:
  int port() const noexcept { return listener_.local_address().port(); }
  hocket::task<hocket::redis::connection> connect() {
    auto client = co_await hocket::redis::connect("127.0.0.1", port());
    co_return std::move(client).value();
  }
  hocket::task<scripted_peer> accept() {
    auto stream = co_await listener_.accept();
    co_return scripted_peer(std::move(stream).value());
  }
  hocket::tcp::listener& listener() noexcept { return listener_; }

 private:
  hocket::tcp::listener listener_ = hocket::tcp::listener::bind("127.0.0.1:0").value();
};

inline std::string text_of(const hocket::redis::reply& reply) {
  if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
  if (reply->type == REDIS_REPLY_NIL) return "nil";
  return reply->str ? std::string(reply->str, reply->len) : "no text";
}
inline std::string text_of(const hocket::result<hocket::redis::reply>& answer) {
  return answer ? text_of(*answer) : answer.error().message();
}
inline hocket::task<std::string> answer_to(hocket::task<hocket::result<hocket::redis::reply>> command) {
  const auto answer = co_await std::move(command);
  co_return text_of(answer);
}

// How a wait ends without its answer.
enum class ending { cancelled, timed_out, killed };
inline constexpr ending all_endings[] = {ending::cancelled, ending::timed_out, ending::killed};

// Spawns `call`, which returns a task, waits until `begun` has ended, and ends the wait of the call.
template <class Call, class Begun>
hocket::task<> end_call(ending way, Call call, Begun begun) {
  hocket::spawn_options options;
  if (way == ending::timed_out) options.within = std::chrono::milliseconds(20);
  auto handle = hocket::spawn(options, [call]() -> hocket::task<> {
    auto body = call();
    const auto ended = co_await std::move(body);
    CHECK_FALSE(ended.has_value());
  });
  auto waits = begun();
  co_await std::move(waits);
  if (way == ending::cancelled) handle.cancel();
  if (way == ending::killed) handle.kill();
  static_cast<void>(co_await handle.join());
}

// Runs body(), which returns a task, as a task and in a fiber, on a loop and on a runtime.
template <class Body>
void in_each_kind(Body body) {
  const auto in_fiber = [&] { await(body()); };
  {
    hocket::loop lp;
    auto handle = hocket::spawn(lp, std::ref(body));
    lp.run();
    sync_wait(handle);
  }
  {
    hocket::loop lp;
    auto handle = hocket::spawn(lp, in_fiber);
    lp.run();
    sync_wait(handle);
  }
  hocket::runtime rt({.workers = 2});
  sync_wait(hocket::spawn(rt, std::ref(body)));
  sync_wait(hocket::spawn(rt, in_fiber));
}

}  // namespace hocket_test
