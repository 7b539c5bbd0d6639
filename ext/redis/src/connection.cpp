#include <hocket/redis/connection.hpp>

#include <hocket/base/fatal.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/net/seam/host_lookup.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/redis/error.hpp>
#include <hocket/time/within.hpp>

#include "session.hpp"

#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace redis {
namespace {

using session = detail::redis_session;

// A command in the form of the protocol: the count of its words, then each with its size.
void encode(std::string& bytes, const text_list& command) {
  bytes += '*' + std::to_string(command.size()) + "\r\n";
  for (std::size_t i = 0; i < command.size(); ++i) {
    bytes += '$' + std::to_string(command[i].size()) + "\r\n";
    bytes += command[i];
    bytes += "\r\n";
  }
}

// Abandons the commands that have no answer when a coroutine ends.
class answer_guard {
 public:
  explicit answer_guard(session& owner) noexcept : owner_(owner) {}
  answer_guard(const answer_guard&) = delete;
  answer_guard& operator=(const answer_guard&) = delete;
  ~answer_guard() { owner_.abandon(); }

 private:
  session& owner_;
};

// Commands in the form of the protocol, and their entries in the list of answers.
struct request {
  std::string bytes;
  std::vector<detail::sent_command> commands;
  std::size_t count = 0;
  std::error_code error{};  // the first one of check()

  void add(session& to, const text_list& command) {
    if (!error) error = to.check(command);
    if (error) return;
    encode(bytes, command);
    to.add(commands, command);
    ++count;
  }
};

task<result<reply>> run_request(session& on, request sent) {
  if (sent.error) co_return failure(sent.error);
  co_await or_return(on.begin(std::move(sent.bytes), sent.commands));
  const answer_guard guard(on);
  co_await or_return(on.flush());
  reply received = co_await or_return(on.answer());
  co_return received;
}

task<result<std::vector<reply>>> run_requests(session& on, request sent) {
  if (sent.error) co_return failure(sent.error);
  std::vector<reply> answers;
  if (sent.count == 0) co_return answers;
  answers.reserve(sent.count);
  co_await or_return(on.begin(std::move(sent.bytes), sent.commands));
  const answer_guard guard(on);
  co_await or_return(on.flush());
  while (answers.size() < sent.count) answers.push_back(co_await or_return(on.answer()));
  co_return answers;
}

task<result<void>> run_or_fail(session& on, std::string_view command) {
  request sent;
  const std::array<std::string_view, 1> list{command};
  sent.add(on, list);
  auto run = run_request(on, std::move(sent));
  const reply answer = co_await or_return(std::move(run));
  if (answer->type == REDIS_REPLY_ERROR) co_return failure(error_of({answer->str, answer->len}));
  co_return {};
}

task<result<void>> drain_session(session& owner) {
  co_await or_return(owner.drop_answers());
  if (owner.has_transaction()) co_await or_return(run_or_fail(owner, "DISCARD"));
  if (owner.has_watches()) co_await or_return(run_or_fail(owner, "UNWATCH"));
  if (owner.state() != connection_state::idle) co_return failure(std::errc::operation_not_supported);
  co_return {};
}

// For a connect to an address behind which there are others: an address that does not answer must not take all the time
// of the caller.
constexpr duration address_time = std::chrono::seconds(3);

// The stream's fd becomes that of a context.
result<connection> adopt(tcp::stream stream) {
  const result<int> fd = stream.release();
  if (!fd) return failure(fd.error());
  redisContext* const context = redisConnectFd(*fd);
  if (!context) {
    ::close(*fd);
    return failure(std::errc::not_enough_memory);
  }
  return connection(context);
}

}  // namespace

connection::connection(redisContext* context) {
  detail::expects(context != nullptr, "a redis::connection was made without a context",
                  "hiredis returns null if there is no memory");
  std::unique_ptr<redisContext, decltype(&redisFree)> owner(context, &redisFree);
  session_ = std::make_unique<session>(std::move(owner));
}
connection::connection(connection&& other) noexcept = default;
connection& connection::operator=(connection&& other) noexcept = default;
connection::~connection() = default;

task<result<reply>> connection::run(const text_arguments& command_words) {
  request sent;
  sent.add(*session_, command_words.list());
  return run_request(*session_, std::move(sent));
}

task<result<std::vector<reply>>> connection::pipeline(std::span<const words> commands) {
  request sent;
  for (const words& command : commands) sent.add(*session_, command);
  return run_requests(*session_, std::move(sent));
}

task<result<reply>> connection::next() { return session_->next_message(); }
connection_state connection::state() const noexcept { return session_ ? session_->state() : connection_state::broken; }
bool connection::is_idle() noexcept { return session_ && session_->is_idle(); }
task<result<void>> connection::drain() { return drain_session(*session_); }
task<result<void>> connection::ping() { return run_or_fail(*session_, "PING"); }
void connection::accept_session() noexcept { session_->accept(); }
std::size_t connection::expected() const noexcept { return session_->expected(); }
std::string_view connection::refusal() const noexcept { return session_->refusal(); }
redisContext* connection::native() const noexcept { return session_->native(); }

task<result<connection>> connect(std::string host, int port) {
  auto lookup = detail::resolve_host(std::move(host), port);
  const std::vector<socket_address> addresses = co_await or_return(std::move(lookup));
  std::error_code error = std::make_error_code(std::errc::host_unreachable);
  for (const socket_address& address : addresses) {
    // The last address has no limit of its own: an error of a limit would be taken for the caller's.
    const duration limit = &address == &addresses.back() ? duration::max() : address_time;
    result<tcp::stream> stream = co_await within(limit, tcp::connect(address));
    if (stream) co_return adopt(*std::move(stream));
    error = stream.error();
    if (error == hocket::errc::cancelled) break;
  }
  co_return failure(error);
}

task<result<connection>> connect_unix(std::string path) {
  const socket_address address("unix:" + path);
  tcp::stream stream = co_await or_return(tcp::connect(address));
  co_return adopt(std::move(stream));
}

result<reply> expect(result<reply> answer) {
  if (answer && (*answer)->type == REDIS_REPLY_ERROR) return failure(error_of({(*answer)->str, (*answer)->len}));
  return answer;
}

bool is_idle(connection& client) { return client.is_idle(); }

}}}  // namespace hocket::redis
