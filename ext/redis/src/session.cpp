#include "session.hpp"

#include <hocket/base/seam/forks.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/io/poll_fds.hpp>

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
namespace {

constexpr int push_reply = 12;  // REDIS_REPLY_PUSH of hiredis from version 1.0 on; 0.14 does not parse RESP3

std::error_code protocol_error() noexcept { return std::make_error_code(std::errc::protocol_error); }
std::error_code connection_reset() noexcept { return std::make_error_code(std::errc::connection_reset); }

std::error_code error_of_call(int error) noexcept {
  if (error == EPIPE) return connection_reset();
  return {error, std::system_category()};
}

bool would_block(int error) noexcept { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

std::string_view text_of(const redisReply& answer) noexcept {
  return answer.str ? std::string_view(answer.str, answer.len) : std::string_view();
}
// The first element of an array, if it is a text.
std::string_view first_text_of(const redisReply& answer) noexcept {
  return answer.elements == 0 || !answer.element ? std::string_view() : text_of(*answer.element[0]);
}
bool is_refusal(const redisReply& answer) noexcept { return answer.type == REDIS_REPLY_ERROR; }

bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

redis_session::redis_session(std::unique_ptr<redisContext, decltype(&redisFree)> context)
    : context_(std::move(context)), forks_(forks_so_far()) {}

// --- the state

bool redis_session::is_copy() const noexcept { return forks_ != forks_so_far(); }

bool redis_session::is_subscriber() const noexcept {
  return std::any_of(names_.begin(), names_.end(), [](const auto& names) { return !names.empty(); });
}

bool redis_session::is_undrainable() const noexcept { return broken_ || changed_ || monitoring_ || is_subscriber(); }

connection_state redis_session::state() const noexcept {
  if (broken_ || context_->err != 0 || is_copy()) return connection_state::broken;
  if (monitoring_ || is_subscriber()) return connection_state::subscribed;
  if (changed_) return connection_state::changed;
  if (expected_ != 0 || has_part_of_answer() || !messages_.empty()) return connection_state::awaiting_answers;
  return in_transaction_ || watches_ ? connection_state::in_transaction : connection_state::idle;
}

std::error_code redis_session::break_off(std::error_code error) noexcept {
  broken_ = true;
  return error;
}

// The peer sees the end at once, also if a child of fork() holds the socket.
void redis_session::shut_down() noexcept {
  broken_ = true;
  if (!is_copy()) static_cast<void>(::shutdown(context_->fd, SHUT_RDWR));
}

result<void> redis_session::usable() noexcept {
  if (is_copy()) return failure(std::make_error_code(std::errc::connection_aborted));
  if (broken_ || context_->err != 0) return failure(connection_reset());
  return {};
}

bool redis_session::is_idle() noexcept {
  if (state() != connection_state::idle) return false;
  for (;;) {
    const result<bool> received = receive_some();
    if (!received) return false;
    if (!*received) return true;
    for (;;) {
      result<reply> message = parse();
      if (!message) return false;
      if (!*message) break;
      if ((*message)->type != push_reply) return break_off(protocol_error()), false;
    }
    if (has_part_of_answer()) return break_off(protocol_error()), false;
  }
}

// --- bytes

// False: the socket takes no more now.
result<bool> redis_session::send_some() noexcept {
  const ssize_t count =
      ::send(context_->fd, output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0) {
    if (would_block(errno)) return false;
    return failure(break_off(error_of_call(errno)));
  }
  sent_ += static_cast<std::size_t>(count);
  if (sent_ == output_.size()) output_.clear(), sent_ = 0;
  return true;
}

// False: no bytes are there.
result<bool> redis_session::receive_some() noexcept {
  std::array<char, 16384> bytes;
  const ssize_t count = ::recv(context_->fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && would_block(errno)) return false;
  if (count < 0) return failure(break_off(error_of_call(errno)));
  if (count == 0) return failure(break_off(connection_reset()));
  if (!mid_reply_) partial_type_ = bytes[0];
  if (redisReaderFeed(context_->reader, bytes.data(), static_cast<std::size_t>(count)) != REDIS_OK)
    return failure(break_off(std::make_error_code(std::errc::not_enough_memory)));
  mid_reply_ = true;
  return true;
}

// Null: there is no whole reply yet.
result<redis::reply> redis_session::parse() {
  void* parsed = nullptr;
  if (redisGetReplyFromReader(context_.get(), &parsed) != REDIS_OK) {
    const bool no_memory = context_->err == REDIS_ERR_OOM;
    return failure(break_off(no_memory ? std::make_error_code(std::errc::not_enough_memory) : protocol_error()));
  }
  if (parsed) {
    const redisReader& reader = *context_->reader;
    mid_reply_ = reader.pos < reader.len;
    if (mid_reply_) partial_type_ = reader.buf[reader.pos];
  }
  return reply(static_cast<redisReply*>(parsed));
}

// The server may answer before it has read all. Reading its answers early lets it read on; the parser holds them.
task<result<void>> redis_session::flush() {
  while (!output_.empty()) {
    if (co_await or_return(send_some())) continue;
    const short events = co_await or_return(poll_fd(context_->fd, POLLIN | POLLOUT));
    if ((events & POLLIN) != 0) co_await or_return(receive_some());
  }
  co_return {};
}

task<result<redis::reply>> redis_session::receive() {
  for (;;) {
    if (mid_reply_) {
      reply received = co_await or_return(parse());
      if (received) co_return received;
    }
    const short events = co_await or_return(poll_fd(context_->fd, POLLIN));
    static_cast<void>(events);
    co_await or_return(receive_some());
  }
}

// --- commands

std::error_code redis_session::check(const text_list& command) noexcept {
  if (command.empty()) return std::make_error_code(std::errc::invalid_argument);
  const command_kind kind = kind_of(command);
  if (kind == command_kind::silencing) changed_ = true;
  return kind == command_kind::silencing || monitoring_ ? std::make_error_code(std::errc::operation_not_supported)
                                                        : std::error_code();
}

void redis_session::add(std::vector<sent_command>& commands, const text_list& command) const {
  sent_command added{.kind = kind_of(command)};
  if (added.kind == command_kind::subscribe || added.kind == command_kind::unsubscribe) {
    added.set = subscription_of(command[0]);
    added.answers = command.size() - 1;
    if (added.answers == 0)
      added.answers = added.kind == command_kind::subscribe ? 1 : sent_command::until_none;  // 1: a refusal
  } else if (added.kind == command_kind::harmless && !commands.empty() &&
             commands.back().kind == command_kind::harmless) {
    ++commands.back().answers;
    return;
  }
  commands.push_back(added);
}

// Before a command is sent, while no answer is outstanding: a reply that is there belongs to no command.
result<void> redis_session::expect_no_answer() {
  while (mid_reply_) {
    result<reply> received = parse();
    if (!received) return failure(received.error());
    if (!*received) break;
    if (!take_message(*received)) return failure(break_off(protocol_error()));
  }
  if (has_part_of_answer() && !is_subscriber()) return failure(break_off(protocol_error()));
  return {};
}

void redis_session::enter(std::string&& bytes, const std::vector<sent_command>& commands) {
  if (output_.empty()) output_ = std::move(bytes);
  else output_ += bytes;
  for (const sent_command& command : commands) {
    list_.push_back(command);
    mark_sent(command);
  }
}

result<void> redis_session::begin(std::string&& bytes, const std::vector<sent_command>& commands) {
  if (auto checked = usable(); !checked) return checked;
  if (expected_ == 0) {
    if (auto checked = expect_no_answer(); !checked) return checked;
  }
  try {
    enter(std::move(bytes), commands);
  } catch (...) {  // bad_alloc: a part of the commands may be in
    broken_ = true;
    throw;
  }
  return {};
}

void redis_session::mark_sent(const sent_command& command) noexcept {
  expected_ += command.answers == sent_command::until_none ? 1 : command.answers;
  switch (command.kind) {
    case command_kind::changing: changed_ = true; break;
    case command_kind::multi: in_transaction_ = true; break;
    case command_kind::watch: watches_ = true; break;
    case command_kind::subscribe: changed_ = changed_ || in_transaction_; break;  // its answers are in that of EXEC
    default: break;
  }
}

void redis_session::abandon() noexcept {
  bool blocks = false;
  for (sent_command& command : list_) {
    command.is_abandoned = true;
    blocks = blocks || command.kind == command_kind::blocking;
  }
  if (blocks) shut_down();
}

// --- answers

// Whether `name`, the first text of an array, is the answer of the first command in the list.
bool redis_session::is_answer_of_first(std::string_view name) const noexcept {
  if (list_.empty()) return false;
  const sent_command& first = list_.front();
  if (first.kind != command_kind::subscribe && first.kind != command_kind::unsubscribe) return false;
  const bool ends = first.kind == command_kind::unsubscribe;
  return ends_with(name, "subscribe") && (name.find("unsub") != std::string_view::npos) == ends &&
         subscription_of(name) == first.set;
}

bool redis_session::is_message(const redisReply& received) const noexcept {
  if (monitoring_) return received.type == REDIS_REPLY_STATUS;
  const std::string_view name = first_text_of(received);
  if (received.type == push_reply) return !is_answer_of_first(name);
  if (received.type != REDIS_REPLY_ARRAY || pushes_ || !is_subscriber()) return false;
  if (name == "message" || name == "pmessage" || name == "smessage") return true;
  return ends_with(name, "unsubscribe") && !is_answer_of_first(name);  // by the server: a slot has moved
}

// Stores a message for next_message(). False: it is an answer.
bool redis_session::take_message(reply& received) {
  if (!is_message(*received)) return false;
  if (ends_with(first_text_of(*received), "unsubscribe") && received->elements > 1)
    names_of(subscription_of(first_text_of(*received))).erase(std::string(text_of(*received->element[1])));
  messages_.push_back(std::move(received));
  return true;
}

void redis_session::settle_transaction(command_kind kind, const redisReply& answer) noexcept {
  const std::string_view text = text_of(answer);
  const bool refused = is_refusal(answer);
  switch (kind) {
    case command_kind::multi: in_transaction_ = !refused || text.find("nested") != std::string_view::npos; break;
    case command_kind::watch: watches_ = watches_ || !refused; break;
    case command_kind::exec:
    case command_kind::discard:
      // After any other refusal, such as a wrong number of words, the transaction is open.
      if (refused && !text.starts_with("EXECABORT") && !text.ends_with("without MULTI")) break;
      if (!refused || text.starts_with("EXECABORT")) watches_ = false;
      in_transaction_ = false;
      break;
    case command_kind::unwatch:
      if (!refused && text != "QUEUED") watches_ = false;
      break;
    case command_kind::monitor: monitoring_ = !refused; break;
    default: break;
  }
}

void redis_session::settle_subscription(sent_command& command, const redisReply& answer) {
  if (answer.elements < 2) {  // a refusal, or QUEUED: one answer for the whole command
    if (command.answers != sent_command::until_none) expected_ -= command.answers - 1, command.answers = 1;
    return;
  }
  pushes_ = answer.type == push_reply;
  const redisReply& channel = *answer.element[1];
  if (command.kind == command_kind::subscribe) names_of(command.set).insert(std::string(text_of(channel)));
  else names_of(command.set).erase(std::string(text_of(channel)));
}

bool redis_session::is_complete(const sent_command& command) const noexcept {
  if (command.answers != sent_command::until_none) return command.answers == 0;
  return names_[static_cast<std::size_t>(command.set)].empty();
}

// Takes an answer out of the list. True: it is for the caller. False: it was dropped, or is not the command's last one.
result<bool> redis_session::settle(reply& received) {
  if (list_.empty()) return failure(break_off(protocol_error()));
  sent_command& command = list_.front();
  const bool subscribes = command.kind == command_kind::subscribe || command.kind == command_kind::unsubscribe;
  if (subscribes) {
    broken_ = true;  // without memory the answer is lost
    settle_subscription(command, *received);
    broken_ = false;
  } else {
    settle_transaction(command.kind, *received);
  }
  const bool whole = subscribes && received->elements < 2;
  const bool dropped = command.is_abandoned;
  if (command.answers != sent_command::until_none) --command.answers, --expected_;
  const bool is_last = whole || !subscribes || is_complete(command);
  if (whole || is_complete(command)) {
    if (command.answers == sent_command::until_none) --expected_;
    list_.pop_front();
  }
  if (dropped || !is_last) return false;
  if (is_refusal(*received)) refusal_.assign(received->str, received->len);
  return true;
}

task<result<redis::reply>> redis_session::answer() {
  for (;;) {
    reply received = co_await or_return(receive());
    if (take_message(received)) {
      if (messages_.size() > max_messages)
        co_return failure(break_off(std::make_error_code(std::errc::no_buffer_space)));
      continue;
    }
    if (co_await or_return(settle(received))) co_return received;
  }
}

task<result<redis::reply>> redis_session::next_message() {
  co_await or_return(usable());
  co_await or_return(flush());
  while (messages_.empty()) {
    reply received = co_await or_return(receive());
    if (!take_message(received)) co_await or_return(settle(received));
  }
  reply first = std::move(messages_.front());
  messages_.pop_front();
  co_return first;
}

task<result<void>> redis_session::drop_answers() {
  abandon();
  co_await or_return(usable());
  if (is_undrainable()) co_return failure(std::make_error_code(std::errc::operation_not_supported));
  co_await or_return(flush());
  for (messages_.clear(); expected_ != 0; messages_.clear()) {
    reply received = co_await or_return(receive());
    if (!take_message(received)) co_await or_return(settle(received));
  }
  co_return {};
}

}}}  // namespace hocket::detail
