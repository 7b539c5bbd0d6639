// Redis for coroutines, over hiredis' non-blocking interface: the coroutine waits, no thread does.
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
// In a fiber: await(lent->command(...)). `reply` owns a redisReply of hiredis. A command is a list of words of any
// bytes, not a format string: so no value can change the command.
//
// Errors. If the server refuses a command, its reply has the type REDIS_REPLY_ERROR, because a pipeline may have such
// replies beside others; expect() turns it into bad_message. A lost connection: connection_reset. An answer outside of
// the protocol: protocol_error.
//
// Ends of a wait. A cancel or a deadline ends a command with operation_canceled or timed_out. Its answer is still
// outstanding, so redis::is_idle() is false and a pool discards the connection. A kill destroys what the coroutine
// owns.
//
// Threads. One coroutine at a time uses a connection. Each use may be on another thread.
#pragma once
#include <hocket/base/detail/text_list.hpp>
#include <hocket/base/result.hpp>
#include <hocket/coro/task.hpp>
#include <array>
#include <concepts>
#include <hiredis/hiredis.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace redis {

struct free_reply {
  void operator()(redisReply* one) const noexcept { freeReplyObject(one); }
};
using reply = std::unique_ptr<redisReply, free_reply>;
using words = std::vector<std::string>;

class connection {
 public:
  explicit connection(redisContext* own) noexcept : own_(own, &redisFree) {}  // connected, and non-blocking

  // Sends a command of these words, and returns its answer.
  template <std::convertible_to<std::string_view>... Words>
  [[nodiscard]] task<result<reply>> command(const Words&... command_words) {
    const std::array<std::string_view, sizeof...(Words)> all{std::string_view(command_words)...};
    return run(all);
  }
  // The same of a list: a vector of strings, say. The words are copied before it returns.
  [[nodiscard]] task<result<reply>> run(const text_arguments& command_words);

  // Sends all commands in one trip, and returns their answers. Copies them before it returns.
  [[nodiscard]] task<result<std::vector<reply>>> pipeline(std::span<const words> all);

  // The next message to a subscriber.
  [[nodiscard]] task<result<reply>> next();

  // How many answers are outstanding.
  std::size_t expected() const noexcept { return expected_; }
  redisContext* native() const noexcept { return own_.get(); }

 private:
  task<result<reply>> run_encoded(std::string bytes);
  task<result<std::vector<reply>>> run_all_encoded(std::string bytes, std::size_t count);

  std::unique_ptr<redisContext, decltype(&redisFree)> own_;
  std::size_t expected_ = 0;
};

// The host name is looked up on the pool of blocking().
[[nodiscard]] task<result<connection>> connect(std::string host, int port);

// The reply, or bad_message if the server has refused the command.
[[nodiscard]] result<reply> expect(result<reply> got);

// For pool_options::check: connected, no answer outstanding.
bool is_idle(connection& one);

}}}  // namespace hocket::redis
