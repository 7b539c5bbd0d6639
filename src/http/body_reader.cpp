#include "http/body_reader.hpp"

#include <hocket/base/error.hpp>
#include <hocket/core/thread/seam/timer.hpp>
#include <hocket/http/errc.hpp>
#include <hocket/http/request_body.hpp>

#include "http/peer_waits.hpp"

#include <algorithm>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

using hocket::detail::time_here;

void body_reader::begin(const framing& body, std::uint64_t max) {
  chunked_ = body.kind == framing::body_kind::chunked;
  length_ = rest_ = body.kind == framing::body_kind::length ? body.length : 0;
  ended_ = !body.has_body();
  expects_ = body.expects_continue && !ended_;
  answered_ = false;
  max_ = max;
  read_ = 0;
  error_ = {};
  pace_.restart();
  if (chunked_) decoder_.emplace();
  if (!chunked_ && length_ > max_) fail(errc::payload_too_large);
}

void body_reader::reset() noexcept {
  ended_ = true;
  expects_ = chunked_ = false;
  read_ = length_ = rest_ = 0;
  error_ = {};
  decoder_.reset();
  trailers_.clear();
}

std::optional<std::uint64_t> body_reader::size() const noexcept {
  if (chunked_) return std::nullopt;
  return length_;
}

std::optional<std::string_view> body_reader::trailer(std::string_view name) const noexcept {
  field_table fields;
  if (!chunked_ || !ended_ || error_ || !read_trailers(trailers_.bytes(), fields)) return std::nullopt;
  const std::size_t index = fields.find(name);
  if (index == field_table::npos) return std::nullopt;
  return fields.value(index);
}

bool body_reader::put_continue() {
  if (!expects_ || answered_) return false;
  expects_ = false;
  out_.out().append("HTTP/1.1 100 Continue\r\n\r\n");
  return true;
}

// --- waiting for the peer

task<std::error_code> body_reader::wait_for_bytes(mutable_buffer room, std::size_t& count) {
  if (put_continue()) {
    if (const result<void> flushed = co_await out_.flush(); !flushed) co_return fail(flushed.error());
  }
  while (share_.is_due()) {
    const result<void> turn = co_await share_.spend();
    if (!turn) co_return turn.error();
  }
  const time_point begin = time_here();
  const duration patience = pace_.patience();
  const result<std::size_t> arrived = co_await wait_for_body(out_.peer(), room, pace_);
  const duration waited = time_here() - begin;
  pace_.count(waited, arrived.value_or(0));
  if (!arrived) {
    const std::error_code error = arrived.error();
    const bool is_late = error == std::errc::timed_out;
    if (is_late && waited >= patience) co_return fail(errc::request_timeout);
    // The wait was ended by the coroutine that reads.
    if (is_late || error == std::errc::operation_canceled) co_return error;
    co_return fail(error);
  }
  if (*arrived == 0) co_return fail(errc::bad_request);
  count = *arrived;
  share_.add(count);
  co_return std::error_code();
}

task<std::error_code> body_reader::refill() {
  std::size_t count = 0;
  const mutable_buffer room = in_.refill();
  const std::error_code error = co_await wait_for_bytes(room, count);
  if (!error) in_.add(count);
  co_return error;
}

// --- reading

std::size_t body_reader::copy_rest(mutable_buffer buffer) noexcept {
  const std::size_t present = std::min(in_.unread().size(), buffer.size());
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(present, rest_));
  std::memcpy(buffer.data(), in_.unread().data(), count);
  in_.consume(count);
  return count;
}

// The decoder gets at most `max` bytes at a time, so no data are left over that do not fit.
std::string_view body_reader::decode(std::size_t max) {
  while (!in_.unread().empty()) {
    const chunked_decoder::step step = decoder_->decode(in_.unread().substr(0, max));
    in_.consume(step.consumed);
    switch (step.state) {
      case chunked_decoder::state::more: break;
      case chunked_decoder::state::data:
        if (step.data.size() > max_ - read_) return fail(errc::payload_too_large), std::string_view();
        return step.data;
      case chunked_decoder::state::trailer: trailers_.append(step.data); break;
      case chunked_decoder::state::done: ended_ = true; return {};
      case chunked_decoder::state::refused: fail(make_error_code(static_cast<errc>(decoder_->error().code))); return {};
    }
  }
  return {};
}

task<result<std::size_t>> body_reader::read_some(mutable_buffer buffer) {
  if (error_) co_return failure(error_);
  if (ended_ || buffer.empty()) co_return std::size_t{0};
  std::size_t count = 0;
  if (!chunked_) {
    count = copy_rest(buffer);
    if (count == 0) {
      const std::size_t piece = std::min(buffer.size(), turn_share::max_piece);
      const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(piece, rest_));
      const mutable_buffer room(buffer.data(), most);
      if (const std::error_code error = co_await wait_for_bytes(room, count)) co_return failure(error);
    }
    rest_ -= count;
    ended_ = rest_ == 0;
  } else {
    for (;;) {
      const std::string_view data = decode(buffer.size());
      if (error_) co_return failure(error_);
      if (!data.empty()) {
        std::memcpy(buffer.data(), data.data(), data.size());
        count = data.size();
        break;
      }
      if (ended_) break;
      if (const std::error_code error = co_await refill()) co_return failure(error);
    }
  }
  read_ += count;
  if (count != 0) expects_ = false;
  co_return count;
}

std::optional<std::string_view> body_reader::take_present() noexcept {
  if (ended_) return std::string_view();
  if (chunked_ || error_ || in_.unread().size() < rest_) return std::nullopt;
  const std::string_view body = in_.unread().substr(0, static_cast<std::size_t>(rest_));
  in_.consume(body.size());
  read_ = body.size();
  rest_ = 0;
  ended_ = true;
  expects_ = false;
  return body;
}

// A peer that only declares a large body does not make the server allocate it: the room grows with what arrives.
task<result<void>> body_reader::read_whole(output& to) {
  while (!ended_) {
    const std::uint64_t known = chunked_ ? input::large_block : rest_;
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(known, std::max(to.size(), input::large_block)));
    const mutable_buffer room(to.prepare(step), step);
    const result<std::size_t> count = co_await read_some(room);
    if (!count) co_return failure(count.error());
    to.commit(*count);
  }
  co_return {};
}

// One step of drain(): drops what has arrived.
void body_reader::drop_present() {
  if (chunked_) {
    read_ += decode(in_.unread().size()).size();
    return;
  }
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(in_.unread().size(), rest_));
  in_.consume(count);
  read_ += count;
  rest_ -= count;
  ended_ = rest_ == 0;
}

// The limit counts from here. What a handler has left unread may be more than the route's limit.
task<bool> body_reader::drain(std::uint64_t max) {
  if (!is_drainable(max)) co_return false;
  const std::uint64_t end = read_ + max;
  max_ = std::max(max_, end);
  for (;;) {
    drop_present();
    if (error_ || read_ > end) co_return false;
    if (ended_) co_return true;
    if (!in_.unread().empty()) continue;
    if (const std::error_code error = co_await refill()) co_return false;
  }
}

}  // namespace detail

task<result<std::size_t>> request_body::read_some(mutable_buffer buffer) { return reader_->read_some(buffer); }
std::optional<std::uint64_t> request_body::size() const noexcept { return reader_->size(); }
std::optional<std::string_view> request_body::trailer(std::string_view name) const noexcept {
  return reader_->trailer(name);
}

}}}  // namespace hocket::http
