// The steps of a connection that do not wait.
#include "http/active_connection.hpp"

#include <hocket/core/frame_memory.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include "http/answer_log.hpp"

#include <ctime>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

using hocket::detail::time_here;

void* active_connection::operator new(std::size_t bytes) { return hocket::detail::allocate_frame(bytes); }
void active_connection::operator delete(void* memory, std::size_t bytes) noexcept {
  hocket::detail::release_frame(memory, bytes);
}
void* active_connection::recycled_head::operator new(std::size_t bytes) {
  return hocket::detail::allocate_frame(bytes);
}
void active_connection::recycled_head::operator delete(void* memory, std::size_t bytes) noexcept {
  hocket::detail::release_frame(memory, bytes);
}

active_connection::active_connection(site& home, hocket::detail::job_connection& job, borrowed_bytes&& first,
                                     proxied_peer* proxied)
    : site_(home),
      job_(job),
      peer_(job.peer),
      in_(std::move(first)),
      out_(job.peer, home.options.limits.min_rate, home.options.limits.rate_grace, home.draining),
      body_(in_, out_, home.options.limits.min_rate, home.options.limits.rate_grace),
      stream_(body_),
      client_(home, job.peer, proxied),
      head_(new recycled_head) {}

active_connection::~active_connection() { site_.count_sent(out_.sent() - counted_out_); }

bool active_connection::is_draining() const noexcept {
  return hocket::detail::descriptor_access::record_of(peer_).ends_when_idle();
}

std::string_view active_connection::scheme() noexcept {
  const std::string_view scheme = client_.find(*request_).scheme;
  return scheme.empty() ? std::string_view("http") : scheme;
}

// --- requests

active_connection::step active_connection::advance() {
  if (client_.awaits_proxy_header()) return step::proxy_header;
  const head_limits limits = site_.limits_of_head();
  for (;;) {
    if (in_.unread().empty()) return step::idle;
    if (out_.out().size() >= max_output) return step::flush;
    if (requests_ == max_requests) {
      requests_ = 0;
      hocket::detail::spend_turn(max_requests - 1);
      return step::pause;
    }
    const request_head::outcome outcome = head_->parse(in_.unread(), limits);
    if (outcome == request_head::outcome::incomplete) return step::head;
    if (outcome == request_head::outcome::refused)
      return refuse_head(make_error_code(static_cast<errc>(head_->error().code)));
    begin_request();
    if (!can_answer_now()) return step::exchange;
    response answer = site_.routes->respond_now(*request_);
    if (!is_short(answer)) {
      pending_ = std::make_unique<response>(std::move(answer));
      return step::exchange;
    }
    put_short_answer(answer);
    end_request();
    if (closes_) return step::close;
  }
}

active_connection::step active_connection::refuse_head(std::error_code error) {
  if (site_.options.access_log) begun_ = time_here();
  refusal_ = error;
  request_.emplace(*this, nullptr);
  return step::exchange;
}

void active_connection::begin_request() {
  if (site_.options.access_log) begun_ = time_here();
  head_deadline_ = time_point::max();
  ++requests_;
  request_.emplace(*this, head_.get());
  in_.consume(head_->size());
  route_ = site_.routes->find(*request_);
  body_.begin(head_->body(), max_body());
  // Also for functions of an after chain, and if the body has ended already.
  if (route_ && route_->settings().body == streamed) request_access::set_stream(*request_, stream_);
}

// Without a route nobody reads the body: drain() limits it.
std::uint64_t active_connection::max_body() const noexcept {
  if (!route_) return body_reader::unlimited;
  const std::size_t own = route_->settings().max_body;
  return own != 0 ? own : site_.options.limits.max_body;
}

// Whether advance() can answer: no function waits, and the body has arrived.
bool active_connection::can_answer_now() {
  if (!site_.routes->is_plain(*request_)) return false;
  if (body_.has_ended()) return true;
  if (!route_ || body_.error() || route_->settings().body == streamed) return false;
  const std::optional<std::string_view> whole = body_.take_present();
  if (whole) request_access::set_body(*request_, *whole);
  return whole.has_value();
}

void active_connection::end_request() noexcept {
  request_.reset();
  site_.count_body(body_.read());
  route_ = nullptr;
  client_.forget_client();
  body_.reset();
  in_.finish_request();
  head_->clear();
}

// --- answers

bool active_connection::is_short(const response& answer) noexcept {
  const response_body& body = response_access::body(answer);
  switch (body.type()) {
    case response_body::kind::none: return true;
    case response_body::kind::text: return body.text().size() <= max_copied;
    case response_body::kind::file:
    case response_body::kind::function:
    case response_body::kind::upgrade: break;
  }
  return false;
}

// Before the answer: whether a further request may follow it.
bool active_connection::keeps_alive() const noexcept {
  if (!request_access::head(*request_) || !head_->body().keeps_alive || is_draining() || closes_) return false;
  // What follows may be bytes of the tunnel, which its client has not waited to send.
  if (request_->method() == method::connect) return false;
  if (body_.has_ended()) return true;
  return !body_.is_doubtful() && body_.is_drainable(site_.options.limits.max_drain);
}

body_plan active_connection::begin_answer(const response& answer) {
  const int minor = request_->minor_version();
  head_context context;
  context.body = plan_body(answer, request_->method(), minor);
  const date_text date = site_.date.at(static_cast<std::int64_t>(std::time(nullptr)));
  context.date = {date.data(), date.size()};
  if (!keeps_alive() || answer.closes_connection() || context.body.end == body_end::close) closes_ = true;
  if (answer.status() == status::switching_protocols) context.connection = connection_field::upgrade;
  else if (closes_) context.connection = connection_field::close;
  else if (minor == 0) context.connection = connection_field::keep_alive;
  answer_begin_ = position();
  write_head(answer, context, out_.out());
  body_.answer_begins();
  return context.body;
}

void active_connection::put_short_answer(const response& answer) {
  const body_plan plan = begin_answer(answer);
  if (plan.sends_body) out_.out().append(response_access::body(answer).text());
  log_answer(answer, {});
}

void active_connection::log_answer(const response& answer, std::error_code error) noexcept {
  site_.count_answer(answer.status());
  site_.count_sent(out_.sent() - counted_out_);
  counted_out_ = out_.sent();
  if (!site_.options.access_log) return;
  const std::uint64_t end = position();
  write_access_record(site_.options.access_log, *request_,
                      {.status = answer.status(),
                       .bytes_in = body_.read(),
                       .bytes_out = end < answer_begin_ ? 0 : end - answer_begin_,
                       .time = time_here() - begun_,
                       .is_complete = !error});
}

}}}}  // namespace hocket::http::detail
