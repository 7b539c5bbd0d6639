// Redis for coroutines, over hiredis' interface that does not block: the coroutine waits, no thread does.
//
//   pool<redis::connection> cache({.limit = 8, .check = redis::is_idle});
//
//   task<result<std::string>> name_of(pool<redis::connection>& cache, std::string id) {
//     auto lent = co_await or_return(within(100ms, cache.borrow()));
//     if (!lent) lent.emplace(co_await or_return(redis::connect("127.0.0.1", 6379)));
//     redis::reply name = co_await or_return(lent->command("GET", "name:" + id));
//     co_return std::string(name->str, name->len);
//   }
//
// In a fiber: await(lent->command(...)). Replies are hiredis' own redisReply, owned. A command is a list of words, of
// any bytes, and no format: so no value can change what it says.
//
// Errors. What the server refuses is a reply of type REDIS_REPLY_ERROR, since a pipeline may have some; expect() makes
// it an error: bad_message. A connection that is lost: connection_reset. An answer that is no Redis: protocol_error.
//
// Ends of a wait. A cancel and a deadline end a command with operation_canceled or timed_out. Its answer is still to
// come, so the connection is not idle, and redis::is_idle() has a pool discard it. A kill destroys what the coroutine
// holds.
//
// Threads: one coroutine at a time uses a connection. It may wait on another thread than before.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <concepts>
#include <hiredis/hiredis.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hocket::inline HOCKET_ABI::redis {

struct free_reply {
  void operator()(redisReply* one) const noexcept { freeReplyObject(one); }
};
using reply = std::unique_ptr<redisReply, free_reply>;
using words = std::vector<std::string>;

class connection {
 public:
  explicit connection(redisContext* own) noexcept : own_(own, &redisFree) {}  // connected, and non-blocking

  // Sends a command of these words, and gives its answer.
  template <std::convertible_to<std::string_view>... Words>
  [[nodiscard]] task<result<reply>> command(const Words&... what) {
    return run(words{std::string(std::string_view(what))...});
  }
  [[nodiscard]] task<result<reply>> run(words what);

  // Sends all, and gives their answers: one trip to the server.
  [[nodiscard]] task<result<std::vector<reply>>> pipeline(std::vector<words> all);

  // The next message to a subscriber.
  [[nodiscard]] task<result<reply>> next();

  // How many answers are to come.
  std::size_t expected() const noexcept { return expected_; }
  redisContext* native() const noexcept { return own_.get(); }

 private:
  std::unique_ptr<redisContext, decltype(&redisFree)> own_;
  std::size_t expected_ = 0;
};

// The name of the host is looked up on the pool of blocking().
[[nodiscard]] task<result<connection>> connect(std::string host, int port);

// The reply, or bad_message if the server has refused the command.
[[nodiscard]] result<reply> expect(result<reply> got);

// For pool_options::check: it is connected, and no answer is to come.
bool is_idle(connection& one);

}  // namespace hocket::inline HOCKET_ABI::redis
