// Redis for coroutines, over hiredis' parser: the coroutine waits, no thread does.
//
//   connection_pool<redis::connection> cache(rt, redis::connector("127.0.0.1", 6379));
//
//   task<result<std::string>> name_of(connection_pool<redis::connection>& cache, std::string id) {
//     auto client = co_await or_return(within(100ms, cache.acquire()));
//     redis::reply name = co_await or_return(client->command("GET", "name:" + id));
//     co_return std::string(name->str, name->len);
//   }
//
// In a fiber: await(client->command(...)). `reply` owns a redisReply of hiredis. A command is a list of words of any
// bytes, not a format string: so no value can change the command.
//
// Answers. A command gets its own answer, or an error. If a cancel, a deadline or a kill ends the wait for an answer,
// the command has perhaps been carried out; its answer is dropped when it arrives, before any later one. So the
// connection can be used on: state() is awaiting_answers until the answer has arrived. Exception: if a command that
// blocks (BLPOP, XREAD with BLOCK, WAIT) is ended, its connection is shut down, and state() is broken.
//
// State. state() says what a borrower has left behind: answers that are outstanding, an open transaction, watched keys,
// subscriptions, a changed session. Every command outside of a list of harmless ones counts as one that changes the
// session (docs/redis.md). drain() makes the connection idle again, if that is possible. accept_session() declares
// the present session to be that of an idle connection: a connector calls it after AUTH and SELECT.
//
// Errors. If the server refuses a command, its reply has the type REDIS_REPLY_ERROR, because a pipeline may also have
// other replies; expect() turns it into an error of redis/error.hpp, and refusal() has the server's text. A lost
// connection: connection_reset, or the error of the system. An answer outside of the protocol, and an answer without a
// command: protocol_error. After these errors the connection is broken, and each call fails. operation_not_supported:
// CLIENT REPLY OFF and SKIP, after which answers have no order, and a command after MONITOR.
//
// fork(). In the child a connection of the parent is broken: each call fails with connection_aborted. Its destructor
// closes the fd, and sends nothing.
//
// Thread safety. One coroutine at a time uses a connection. Each use may be on another thread. The connection may be
// moved while a command is under way, and must outlive it.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/text_list.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/pool/connection_state.hpp>
#include <hocket/redis/error.hpp>
#include <hocket/redis/reply.hpp>
#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class redis_session;
}  // namespace detail

namespace redis {

// A connection to a server.
class connection {
 public:
  // Takes ownership of a context that is connected or connects, non-blocking, and without TLS. The connection sends and
  // receives by itself: call no function of hiredis that does. Throws std::bad_alloc.
  explicit connection(redisContext* context);
  connection(connection&& other) noexcept;
  connection& operator=(connection&& other) noexcept;
  ~connection();

  // Sends a command of these words, and returns its answer. SUBSCRIBE and UNSUBSCRIBE, which have an answer for each
  // channel, wait for all, and return the last one.
  template <std::convertible_to<std::string_view>... Words>
  [[nodiscard]] task<result<reply>> command(const Words&... command_words) {
    const std::array<std::string_view, sizeof...(Words)> list{std::string_view(command_words)...};
    return run(list);
  }
  // Sends a command from a list of words, as a vector of strings. Copies the words before it returns.
  [[nodiscard]] task<result<reply>> run(const text_arguments& command_words);

  // Sends all commands in one trip, and returns their answers, one for each command. Copies the commands before it
  // returns.
  [[nodiscard]] task<result<std::vector<reply>>> pipeline(std::span<const words> commands);

  // Waits for the next message to a subscriber, or line of MONITOR. A wait that ends early loses none.
  [[nodiscard]] task<result<reply>> next();

  // Without a system call.
  connection_state state() const noexcept;
  // Whether state() is idle, and the server has not closed the connection. Looks at the socket once, without waiting.
  // Messages that have arrived are read and dropped.
  bool is_idle() noexcept;
  // Reads and drops outstanding answers, and ends a transaction (DISCARD, UNWATCH). An error: the connection cannot be
  // made idle, because it is broken, subscribed or changed.
  [[nodiscard]] task<result<void>> drain();
  // Whether the server answers: sends PING. An error: the answer is a refusal, or there is none. connection_pool calls
  // it, if its option ping_after is set.
  [[nodiscard]] task<result<void>> ping();
  // The present session is from now on that of an idle connection: the connector has authenticated, or has selected a
  // database.
  void accept_session() noexcept;

  // How many answers are outstanding.
  std::size_t expected() const noexcept;
  // The server's text of the last answer that was a refusal, as "WRONGTYPE Operation against ..."; "": there was none.
  std::string_view refusal() const noexcept;
  redisContext* native() const noexcept;

 private:
  std::unique_ptr<detail::redis_session> session_;
};

// Connects to a server: a host name, or a numeric address, and a port. Tries the addresses of a name in their order,
// each but the last one for 3 s at most. A name is looked up on a thread for lookups; a numeric address never waits
// behind lookups. If the wait ends early, the lookup is left to itself. Errors: the error of the last connect, as
// connection_refused; the error of the lookup (net/seam/host_lookup.hpp).
[[nodiscard]] task<result<connection>> connect(std::string host, int port);
// Connects to the path of a unix socket.
[[nodiscard]] task<result<connection>> connect_unix(std::string path);

// The connector of a connection_pool: calls connect(host, port).
struct connector {
  connector(std::string server, int number) : host(std::move(server)), port(number) {}
  task<result<connection>> operator()() const { return connect(host, port); }
  std::string host;
  int port;
};

// Returns the reply, or the error of redis/error.hpp, if the server has refused the command.
[[nodiscard]] result<reply> expect(result<reply> answer);

// For pool_options::check: client.is_idle().
bool is_idle(connection& client);

}  // namespace redis

}}  // namespace hocket
