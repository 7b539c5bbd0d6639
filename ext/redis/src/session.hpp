// A session: the bytes and the bookkeeping of one connection to a Redis server.
//
// # The queue of answers
//
// A server answers commands in their order. The session lists the commands that were begun and not answered, first in,
// first out. A command enters the list before its first byte is sent, and stays there until its last answer has
// arrived, whatever happens to the coroutine that sent it.
//
//   begin()    the command enters the list; its bytes are behind the bytes of the commands before it
//   flush()    sends the bytes of all commands in the list
//   answer()   takes answers from the socket, each for the first command in the list
//   abandon()  marks each command in the list: its coroutine waits no more
//
// An answer for a marked command is dropped. So the next coroutine that calls answer() gets the answer to its own
// command, also if the earlier answers arrive later, or in the same packet.
//
// A command that blocks (BLPOP) is not left in the list when it is abandoned: the server would pop an item for it that
// nobody receives. Then the session ends: the socket is shut down, and the server takes the command back.
//
// # The state
//
// The state is a function of the list and of these marks, without a system call:
//
//   mark            set                                      cleared
//   broken          an error of the socket or the protocol;  never
//                   a blocking command was abandoned
//   changed         a command that may change the session    by accept()
//                   is sent
//   subscriptions   the answer to SUBSCRIBE                  the answer to UNSUBSCRIBE
//   monitoring      the answer to MONITOR                    never
//   in_transaction  MULTI is sent, and its answer            the answer to MULTI if it is a refusal, to EXEC, to
//   DISCARD watches         WATCH is sent, and its answer            the answer to EXEC, DISCARD and UNWATCH
//
// A mark is set when its command is sent, because the server may carry a command out whose answer is never read. It is
// cleared by an answer, because a command may be refused.
//
// Hazard: of EXEC and MULTI in one pipeline, the answer to EXEC clears the mark of the later MULTI. Prevented: the
// answer to MULTI sets it again, and so does the answer to WATCH.
//
// # Answers without a command
//
// A message to a subscriber, a push of RESP3 and a line of MONITOR are no answers: they wait in messages_ for
// next_message(). A reply for which the list has no command is an answer too many: the server or a proxy is out of
// step, and the session is broken. It is noticed when the last answer in the list was taken and bytes remain, at the
// next begin(), and at is_idle().
//
// # Use of hiredis
//
// hiredis parses. The session sends and receives by itself: hiredis' own send(2) raises SIGPIPE, and its buffer of
// unsent bytes cannot be told from answers that are owed.
//
// # Fork
//
// A forked child has a copy of the session and shares the socket. is_copy() finds the child by forks_so_far(). A copy
// is broken, sends nothing, and does not shut the socket down.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/text_list.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/pool/connection_state.hpp>
#include <hocket/redis/reply.hpp>

#include "command_kind.hpp"

#include <array>
#include <deque>
#include <set>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A command in the list of answers; several harmless commands in a row share an entry.
struct sent_command {
  static constexpr std::size_t until_none = ~std::size_t{0};

  command_kind kind = command_kind::harmless;
  subscription set = subscription::channel;
  std::size_t answers = 1;  // outstanding; until_none: until no subscription of the set is left
  bool is_abandoned = false;
};

class redis_session {
 public:
  using reply = redis::reply;

  explicit redis_session(std::unique_ptr<redisContext, decltype(&redisFree)> context);
  redis_session(const redis_session&) = delete;
  redis_session& operator=(const redis_session&) = delete;
  ~redis_session() = default;

  connection_state state() const noexcept;
  std::size_t expected() const noexcept { return expected_; }
  const std::string& refusal() const noexcept { return refusal_; }
  redisContext* native() const noexcept { return context_.get(); }
  // Clears `changed`: the session as it is now belongs to the connection.
  void accept() noexcept { changed_ = false; }
  // One look at the socket, without waiting.
  bool is_idle() noexcept;

  // Commands enter the list in this order: check() for each, then begin() for all. An error of check(): the command
  // must not be sent. Throws std::bad_alloc; then nothing has entered.
  std::error_code check(const text_list& command) noexcept;
  void add(std::vector<sent_command>& commands, const text_list& command) const;
  result<void> begin(std::string&& bytes, const std::vector<sent_command>& commands);
  task<result<void>> flush();
  // The answer to the next command in the list that is not abandoned: of several answers the last one.
  task<result<reply>> answer();
  task<result<reply>> next_message();
  // Reads and drops the answers of all commands in the list.
  task<result<void>> drop_answers();
  void abandon() noexcept;

  bool has_transaction() const noexcept { return in_transaction_; }
  bool has_watches() const noexcept { return watches_; }

 private:
  bool is_copy() const noexcept;
  bool is_subscriber() const noexcept;
  bool is_undrainable() const noexcept;
  result<void> usable() noexcept;
  std::error_code break_off(std::error_code error) noexcept;
  void shut_down() noexcept;
  // Whether the parser holds a part of a reply that is no push.
  bool has_part_of_answer() const noexcept { return mid_reply_ && partial_type_ != '>'; }

  // --- bytes
  result<bool> send_some() noexcept;
  result<bool> receive_some() noexcept;
  result<reply> parse();
  task<result<reply>> receive();

  // --- answers
  result<void> expect_no_answer();
  void enter(std::string&& bytes, const std::vector<sent_command>& commands);
  void mark_sent(const sent_command& command) noexcept;
  bool take_message(reply& received);
  bool is_message(const redisReply& received) const noexcept;
  bool is_answer_of_first(std::string_view name) const noexcept;
  result<bool> settle(reply& received);
  void settle_subscription(sent_command& command, const redisReply& answer);
  void settle_transaction(command_kind kind, const redisReply& answer) noexcept;
  std::set<std::string>& names_of(subscription set) noexcept { return names_[static_cast<std::size_t>(set)]; }
  bool is_complete(const sent_command& command) const noexcept;

  static constexpr std::size_t max_messages = 10'000;

  const std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  const std::uint32_t forks_;  // when it was made
  std::string output_;         // bytes of commands in the list
  std::size_t sent_ = 0;       // of output_
  bool mid_reply_ = false;     // the parser holds bytes
  char partial_type_ = 0;      // their first byte: the type of a reply
  std::deque<sent_command> list_;
  std::size_t expected_ = 0;  // the sum of the answers in list_
  std::deque<reply> messages_;
  std::string refusal_;
  std::array<std::set<std::string>, 3> names_;  // the subscriptions, by set
  bool pushes_ = false;                         // messages to a subscriber are pushes of RESP3
  bool broken_ = false;
  bool changed_ = false;
  bool monitoring_ = false;
  bool in_transaction_ = false;
  bool watches_ = false;
};

}}}  // namespace hocket::detail
