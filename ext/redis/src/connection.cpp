// hiredis' non-blocking functions: redisBufferWrite() until all is sent, redisBufferRead() until the reader has a whole
// answer. Between two calls the coroutine waits for the socket.
//
// Not hiredis' asynchronous context: before version 1.0 it frees each answer when its callback returns.
#include <hocket/redis/connection.hpp>

#include <hocket/coro/or_return.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/runtime/blocking.hpp>

#include <cerrno>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace redis {
namespace {

std::error_code error_of(const redisContext* db) noexcept {
  switch (db->err) {
    case REDIS_ERR_OOM: return std::make_error_code(std::errc::not_enough_memory);
    case REDIS_ERR_PROTOCOL: return std::make_error_code(std::errc::protocol_error);
    default: return std::make_error_code(std::errc::connection_reset);
  }
}

// A command in the form of the protocol: the count of its words, then each with its size.
void encode(std::string& bytes, const text_list& command) {
  bytes += '*' + std::to_string(command.size()) + "\r\n";
  for (std::size_t i = 0; i < command.size(); ++i) {
    bytes += '$' + std::to_string(command[i].size()) + "\r\n";
    bytes += command[i];
    bytes += "\r\n";
  }
}

bool append(redisContext* db, const std::string& commands) {
  return redisAppendFormattedCommand(db, commands.data(), commands.size()) == REDIS_OK;
}

// The server may answer before it has read all. Reading its answers early lets it read on; the reader keeps them.
task<result<void>> flush(redisContext* db) {
  for (int all_sent = 0; all_sent == 0;) {
    if (redisBufferWrite(db, &all_sent) != REDIS_OK) co_return failure(error_of(db));
    if (all_sent != 0) break;
    const short told = co_await or_return(poll_fd(db->fd, POLLIN | POLLOUT));
    if ((told & POLLIN) != 0 && redisBufferRead(db) != REDIS_OK) co_return failure(error_of(db));
  }
  co_return {};
}

task<result<reply>> answer(redisContext* db) {
  for (;;) {
    void* got = nullptr;
    if (redisGetReplyFromReader(db, &got) != REDIS_OK) co_return failure(error_of(db));
    if (got) co_return reply(static_cast<redisReply*>(got));
    const short told = co_await or_return(poll_fd(db->fd, POLLIN));
    static_cast<void>(told);
    if (redisBufferRead(db) != REDIS_OK) co_return failure(error_of(db));
  }
}

std::error_code error_at(int number) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(number, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  return {error, std::system_category()};
}

}  // namespace

task<result<reply>> connection::run(const text_arguments& command_words) {
  std::string bytes;
  encode(bytes, command_words.list());
  return run_encoded(std::move(bytes));
}

task<result<std::vector<reply>>> connection::pipeline(std::span<const words> commands) {
  std::string bytes;
  for (const words& command : commands) encode(bytes, command);
  return run_all_encoded(std::move(bytes), commands.size());
}

task<result<reply>> connection::run_encoded(std::string bytes) {
  redisContext* const db = native();
  if (!append(db, bytes)) co_return failure(error_of(db));
  ++expected_;
  co_await or_return(flush(db));
  co_return co_await next();
}

task<result<std::vector<reply>>> connection::run_all_encoded(std::string bytes, std::size_t count) {
  redisContext* const db = native();
  if (!append(db, bytes)) co_return failure(error_of(db));
  expected_ += count;
  co_await or_return(flush(db));
  std::vector<reply> answers;
  for (std::size_t i = 0; i < count; ++i) answers.push_back(co_await or_return(next()));
  co_return answers;
}

task<result<reply>> connection::next() {
  reply got = co_await or_return(answer(native()));
  if (expected_ != 0) --expected_;
  co_return got;
}

task<result<connection>> connect(std::string host, int port) {
  redisContext* const db = co_await or_return(blocking(&redisConnectNonBlock, host.c_str(), port));
  if (!db) co_return failure(std::make_error_code(std::errc::not_enough_memory));
  connection made(db);
  if (db->err != 0) co_return failure(std::make_error_code(std::errc::connection_refused));
  const short told = co_await or_return(poll_fd(db->fd, POLLOUT));
  static_cast<void>(told);
  if (const std::error_code error = error_at(db->fd)) co_return failure(error);
  co_return made;
}

result<reply> expect(result<reply> answer) {
  if (answer && (*answer)->type == REDIS_REPLY_ERROR) return failure(std::make_error_code(std::errc::bad_message));
  return answer;
}

bool is_idle(connection& client) { return client.native()->err == 0 && client.expected() == 0; }

}}}  // namespace hocket::redis
