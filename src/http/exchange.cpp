// The steps of a connection that wait.
#include <hocket/base/error.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/http/body_writer.hpp>
#include <hocket/http/detail/file_sender.hpp>
#include <hocket/http/detail/proxy_protocol.hpp>
#include <hocket/http/detail/tokens.hpp>
#include <hocket/http/upgrade.hpp>

#include "http/active_connection.hpp"
#include "http/peer_waits.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

using hocket::detail::time_here;

// Whether the running coroutine was cancelled. Errors do not say it: a handler may cancel its own waits.
static bool is_stopped() noexcept {
  const stop_source* const stop = current_context().stop();
  return stop && stop->requested() != stop_level::none;
}
static std::error_code error_of(const result<void>& done) noexcept { return done ? std::error_code() : done.error(); }

task<active_connection::fate> active_connection::run(step first) {
  for (step next = first;; next = advance()) {
    bool lives = true;
    switch (next) {
      case step::idle:
      case step::flush:
      case step::close:
        if (out_.send_now() != send_state::complete) lives = co_await send_output();
        break;
      case step::pause:
        if (out_.send_now() != send_state::complete) lives = co_await send_output();
        if (lives) lives = static_cast<bool>(co_await yield());
        break;
      case step::proxy_header: lives = co_await read_proxy_header(); break;
      case step::head: lives = co_await read_head(); break;
      case step::exchange: lives = co_await exchange(); break;
    }
    if (!lives) co_return is_stopped() ? fate::cancelled : fate::closed;
    if (closes_) co_return fate::closed;
    if (next == step::idle) co_return fate::idle;
  }
}

// Sends the answers that are ready.
task<bool> active_connection::send_output() {
  const result<void> sent = co_await out_.flush();
  co_return sent.has_value();
}

// --- the head

task<bool> active_connection::read_head() {
  if (head_deadline_ == time_point::max()) head_deadline_ = deadline_after(time_here(), site_.options.limits.head);
  if (!out_.out().empty()) {
    const result<void> sent = co_await out_.flush();
    if (!sent) co_return false;
  }
  const mutable_buffer room = in_.extend(site_.options.limits.max_head + 4);
  const result<std::size_t> count = co_await wait_for_head(peer_, room, head_deadline_);
  if (count) in_.add(*count);
  if (count) co_return *count != 0;
  if (count.error() != std::errc::timed_out || !head_->has_begun()) co_return false;
  static_cast<void>(refuse_head(errc::request_timeout));
  const bool lives = co_await exchange();
  co_return lives;
}

task<bool> active_connection::read_proxy_header() {
  const time_point deadline = deadline_after(time_here(), site_.options.limits.head);
  for (;;) {
    const proxy_header header = proxy_header::parse(in_.unread());
    if (header.result == proxy_header::outcome::refused) co_return false;
    if (header.result == proxy_header::outcome::complete) {
      in_.consume(header.size);
      client_.set_proxied(header.source);
      co_return true;
    }
    const mutable_buffer room = in_.extend(proxy_header::max_size);
    const result<std::size_t> count = co_await wait_for_head(peer_, room, deadline);
    if (!count || *count == 0) co_return false;
    in_.add(*count);
  }
}

// --- an exchange

// The body lies in `whole` until the request has ended.
task<bool> active_connection::exchange() {
  output whole;
  semaphore::permits shares;
  const request_end ending{*this};
  std::optional<response> answer;
  if (pending_) {
    answer.emplace(std::move(*pending_));
    pending_.reset();
  } else {
    if (body_.error()) refusal_ = body_.error();
    else if (must_read_whole()) refusal_ = co_await read_whole(whole, shares);
    const bool responded = co_await respond(answer);
    if (!responded) co_return false;
  }
  if (is_short(*answer)) {
    put_short_answer(*answer);
  } else {
    const bool sent = co_await send_answer(*answer);
    if (!sent) co_return false;
  }
  answer.reset();
  if (closes_) {
    const bool sent = co_await send_output();
    co_return sent;
  }
  bool drained = body_.has_ended();
  if (!drained) drained = co_await drain();
  co_return drained;
}

bool active_connection::must_read_whole() const noexcept {
  return !refusal_ && route_ && route_->settings().body == http::whole && !body_.has_ended();
}

// The answer leaves first: the peer may read it before it sends the rest.
task<bool> active_connection::drain() {
  const result<void> sent = co_await out_.flush();
  if (!sent) co_return false;
  const bool drained = co_await body_.drain(site_.options.limits.max_drain);
  co_return drained;
}

task<std::error_code> active_connection::read_whole(output& whole, semaphore::permits& shares) {
  const result<void> sent = co_await out_.flush();
  if (!sent) co_return sent.error();
  const std::size_t limit = body_.max();
  const std::size_t amount = site_.shares_of(body_.size().value_or(limit));
  result<semaphore::permits> acquired = co_await site_.bodies.acquire(amount);
  if (!acquired) co_return acquired.error();
  shares = std::move(*acquired);
  const result<void> read = co_await body_.read_whole(whole);
  if (!read) co_return read.error();
  request_access::set_body(*request_, whole.bytes());
  co_return std::error_code();
}

// False: the peer is gone, or the coroutine is cancelled.
task<bool> active_connection::respond(std::optional<response>& answer) {
  const route_table& routes = *site_.routes;
  if (refusal_) {
    // An error of the connection has no answer.
    if (refusal_.category() != http::error_category()) co_return false;
    const std::error_code error = std::exchange(refusal_, {});
    if (routes.is_plain_refusal(*request_)) {
      answer.emplace(routes.refuse_now(*request_, error));
    } else {
      const bool sent = co_await send_output();
      if (!sent) co_return false;
      answer.emplace(co_await routes.refuse(*request_, error));
    }
    co_return true;
  }
  if (routes.is_plain(*request_)) {
    answer.emplace(routes.respond_now(*request_));
    co_return true;
  }
  // The handler may suspend: the answers that are ready leave first.
  if (!out_.out().empty()) {
    const result<void> sent = co_await out_.flush();
    if (!sent) co_return false;
  }
  {
    const user_code awaited(awaits_user_, user_wait::any);
    answer.emplace(co_await routes.respond(*request_));
  }
  // The answer to a peer that is gone is dropped, and so is the error of a handler that was cancelled.
  co_return !is_stopped() || (!is_abandoned() && answer->error() != std::errc::operation_canceled);
}

// --- the answer

static bool is_success(const response& answer) noexcept {
  return answer.status() >= status::ok && answer.status() < status::multiple_choices;
}

// The end of an answer, after its head was put into the output. If an exception or a kill ends the coroutine here, the
// answer has failed.
class active_connection::answer_end {
 public:
  answer_end(active_connection& connection, const response& answer, body_end end) noexcept
      : connection_(connection), answer_(answer), end_(end) {}
  answer_end(const answer_end&) = delete;
  answer_end& operator=(const answer_end&) = delete;
  ~answer_end() {
    connection_.log_answer(answer_, error_);
    // A peer of HTTP/1.0 takes the end of the connection for the end of the body.
    if (error_ && end_ == body_end::close) static_cast<void>(connection_.peer_.set_reset_on_close(true));
  }
  void set(std::error_code error) noexcept { error_ = error; }

 private:
  active_connection& connection_;
  const response& answer_;
  const body_end end_;
  std::error_code error_ = make_error_code(hocket::errc::cancelled);
};

task<bool> active_connection::send_answer(response& answer) {
  const response_body::kind kind = response_access::body(answer).type();
  if (kind == response_body::kind::upgrade) {
    const bool upgraded = co_await upgrade(answer);
    co_return upgraded;
  }
  // Earlier answers do not wait for a disk, and arrive also if the file cannot be read.
  if (kind == response_body::kind::file && !out_.out().empty()) {
    const bool sent = co_await send_output();
    if (!sent) co_return false;
  }
  // The function reads the body behind the head of its answer, where no interim answer may be.
  const bool is_reader = kind == response_body::kind::function && route_ && route_->settings().body == streamed;
  if (is_reader && is_success(answer)) static_cast<void>(body_.put_continue());
  const body_plan plan = begin_answer(answer);
  answer_end ending(*this, answer, plan.end);
  const response_body& body = response_access::body(answer);
  std::error_code error;
  if (plan.sends_body) {
    switch (kind) {
      case response_body::kind::none:
      case response_body::kind::upgrade: break;
      case response_body::kind::text:
        if (body.text().size() <= max_copied) out_.out().append(body.text());
        else error = co_await send_text(body.text());
        break;
      case response_body::kind::file: error = co_await send_file(body.file()); break;
      case response_body::kind::function: error = co_await send_function(body.function(), plan); break;
    }
  }
  ending.set(error);
  co_return !error;
}

task<std::error_code> active_connection::send_text(std::string_view text) {
  const result<void> sent = co_await out_.send(text);
  co_return error_of(sent);
}

task<std::error_code> active_connection::send_file(const body_file& file) {
  body_writer writer(out_, false, file.size);
  const result<void> sent =
      co_await send_file_part(writer, file.file.native_handle(), file.offset, file.size, file.pool);
  if (!sent) co_return sent.error();
  const result<void> ended = co_await writer.end();
  co_return error_of(ended);
}

// The function may suspend: the head, and the answers before it, leave first.
task<std::error_code> active_connection::send_function(body_function& function, const body_plan& plan) {
  const result<void> sent = co_await out_.flush();
  if (!sent) co_return sent.error();
  const std::error_code error = co_await write_function(function, plan);
  co_return error;
}

task<std::error_code> active_connection::write_function(body_function& function, const body_plan& plan) {
  const bool chunked = plan.end == body_end::chunked;
  body_writer writer(out_, chunked, plan.end == body_end::length ? plan.length : body_writer::unlimited);
  result<void> written;
  try {
    const user_code awaited(awaits_user_,
                            function.ends_when_half_closed ? user_wait::ends_when_half_closed : user_wait::any);
    auto writing = function.write(writer);
    written = co_await std::move(writing);
  } catch (...) {
    written = failure(error_of_exception());
  }
  if (!written) co_return written.error();
  const result<void> ended = co_await writer.end();
  co_return error_of(ended);
}

// --- another protocol

// Whether the head asks for the protocol: the server must not choose another one (RFC 9110, 7.8).
static bool asks_for(const request_head& head, std::string_view protocol) noexcept {
  if (!head.body().upgrades) return false;
  const field_table& fields = head.fields();
  for (std::size_t i = fields.find(known_field::upgrade); i != field_table::npos; i = fields.find_next(i))
    if (has_token(fields.value(i), protocol)) return true;
  return false;
}

// A head that did not parse asks for nothing.
bool active_connection::is_asked_for(std::string_view protocol) const noexcept {
  const request_head* const head = request_access::head(*request_);
  return head && body_.has_ended() && asks_for(*head, protocol);
}

task<bool> active_connection::refuse_upgrade(std::string_view protocol) {
  refusal_ = errc::upgrade_required;
  std::optional<response> refused;
  const bool responded = co_await respond(refused);
  if (!responded) co_return false;
  // An after step may answer by an upgrade again.
  if (response_access::body(*refused).type() == response_body::kind::upgrade)
    *refused = default_error_response(errc::upgrade_required);
  if (refused->status() == status::upgrade_required) offer_upgrade(*refused, protocol);
  const bool sent = co_await send_answer(*refused);
  co_return sent;
}

task<bool> active_connection::upgrade(response& answer) {
  const std::string_view protocol = answer.header("Upgrade").value_or("");
  if (!is_asked_for(protocol)) {
    const bool sent = co_await refuse_upgrade(protocol);
    co_return sent;
  }
  {
    const body_plan plan = begin_answer(answer);
    answer_end ending(*this, answer, plan.end);
    closes_ = true;
    const result<void> sent = co_await out_.flush();
    ending.set(error_of(sent));
    if (!sent) co_return false;
  }
  static_cast<void>(peer());  // its address is asked for, while there is a stream
  job_.ask_handover();
  const result<void> released = co_await released_.wait();
  if (!released) co_return false;
  upgraded_stream stream(std::move(peer_), in_.unread());
  const result<void> ended = co_await response_access::body(answer).upgrade().run(std::move(stream));
  co_return ended || ended.error() != std::errc::operation_canceled;
}

}}}}  // namespace hocket::http::detail
