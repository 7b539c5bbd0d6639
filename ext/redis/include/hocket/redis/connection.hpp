// Redis for coroutines, over hiredis' non-blocking interface: the coroutine waits, no thread does.
//
//   pool<redis::connection> cache({.limit = 8, .check = redis::is_idle});
//
//   task<result<std::string>> name_of(pool<redis::connection>& cache, std::string id) {
//     auto client = co_await or_return(within(100ms, cache.borrow()));
//     if (!client) client.emplace(co_await or_return(redis::connect("127.0.0.1", 6379)));
//     redis::reply name = co_await or_return(client->command("GET", "name:" + id));
//     co_return std::string(name->str, name->len);
//   }
//
// In a fiber: await(client->command(...)). `reply` owns a redisReply of hiredis. A command is a list of words of any
// bytes, not a format string: so no value can change the command.
//
// Errors. If the server refuses a command, its reply has the type REDIS_REPLY_ERROR, because a pipeline may also have
// other replies; expect() turns it into bad_message. A lost connection: connection_reset. An answer outside of
// the protocol: protocol_error.
//
// Cancellation. A cancel or a deadline ends a command with operation_canceled or timed_out. Its answer is still
// outstanding, so redis::is_idle() is false and a pool discards the connection. A kill destroys the coroutine's
// objects.
//
// Thread safety. One coroutine at a time uses a connection. Each use may be on another thread.
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

// The deleter of reply.
struct free_reply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using reply = std::unique_ptr<redisReply, free_reply>;
using words = std::vector<std::string>;

// A connection to a server.
class connection {
 public:
  // Takes ownership of a context that is connected and non-blocking.
  explicit connection(redisContext* context) noexcept : context_(context, &redisFree) {}

  // Sends a command of these words, and returns its answer.
  template <std::convertible_to<std::string_view>... Words>
  [[nodiscard]] task<result<reply>> command(const Words&... command_words) {
    const std::array<std::string_view, sizeof...(Words)> list{std::string_view(command_words)...};
    return run(list);
  }
  // Sends a command from a list of words, as a vector of strings. Copies the words before it returns.
  [[nodiscard]] task<result<reply>> run(const text_arguments& command_words);

  // Sends all commands in one trip, and returns their answers. Copies the commands before it returns.
  [[nodiscard]] task<result<std::vector<reply>>> pipeline(std::span<const words> commands);

  // Waits for the next message to a subscriber.
  [[nodiscard]] task<result<reply>> next();

  // How many answers are outstanding.
  std::size_t expected() const noexcept { return expected_; }
  redisContext* native() const noexcept { return context_.get(); }

 private:
  task<result<reply>> run_encoded(std::string bytes);
  task<result<std::vector<reply>>> run_all_encoded(std::string bytes, std::size_t count);

  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  std::size_t expected_ = 0;
};

// Connects to a server. The host name is looked up on the pool of blocking().
[[nodiscard]] task<result<connection>> connect(std::string host, int port);

// Returns the reply, or bad_message, if the server has refused the command.
[[nodiscard]] result<reply> expect(result<reply> answer);

// For pool_options::check: connected, no answer outstanding.
bool is_idle(connection& client);

}}}  // namespace hocket::redis
