#include <hocket/http/body_writer.hpp>

#include "http/sender.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// A chunk of collected bytes begins with four digits, which close_chunk() fills in: "01f3\r\n". They are enough,
// because a chunk of collected bytes is smaller than flush_size plus the bytes of one write, which is smaller than
// flush_size.
static constexpr std::size_t size_digits = 4;
static_assert(2 * body_writer::flush_size <= 0xffff);
// More than the end of a chunk, the line of the next one, and the last chunk have together.
static constexpr std::size_t max_overhead = 32;

body_writer::body_writer(detail::sender& sender, bool chunked, std::uint64_t size) noexcept
    : draining_(sender.draining()), sender_(&sender), chunked_(chunked), size_limit_(size) {}

std::error_code body_writer::check(std::size_t more) const noexcept {
  if (!sender_) return std::make_error_code(std::errc::operation_not_permitted);
  if (sender_->error()) return sender_->error();
  if (more > size_limit_ - written_) return std::make_error_code(std::errc::message_size);
  return {};
}

void body_writer::close_chunk() {
  std::size_t rest = std::exchange(collected_, 0);
  if (!chunked_ || rest == 0) return;
  char* const size = sender_->out().prepare(2) - rest - size_digits - 2;
  for (std::size_t i = size_digits; i-- > 0; rest /= 16) size[i] = "0123456789abcdef"[rest % 16];
  sender_->out().append("\r\n");
}

// What needs memory comes first: half a chunk's line in the output would be read as something else.
task<result<std::size_t>> body_writer::write_all(const_buffer data) {
  if (const std::error_code error = check(data.size())) co_return failure(error);
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  const bool makes_chunk = chunked_ && !text.empty();
  task<result<void>> sending = sender_->send(text, makes_chunk ? "\r\n" : "");
  sender_->out().prepare(max_overhead);
  close_chunk();
  if (makes_chunk) {
    std::array<char, 16> number;
    const std::to_chars_result end = std::to_chars(number.data(), number.data() + number.size(), text.size(), 16);
    sender_->out().append({number.data(), static_cast<std::size_t>(end.ptr - number.data())});
    sender_->out().append("\r\n");
  }
  written_ += text.size();
  const result<void> sent = co_await std::move(sending);
  if (!sent) co_return failure(sent.error());
  co_return text.size();
}

task<result<void>> body_writer::write(const_buffer data) {
  if (const std::error_code error = check(data.size())) co_return failure(error);
  if (data.size() >= flush_size) {
    const result<std::size_t> sent = co_await write_all(data);
    if (!sent) co_return failure(sent.error());
    co_return {};
  }
  if (data.empty()) co_return {};
  if (collected_ + data.size() < flush_size) {
    collect(data);
    co_return {};
  }
  task<result<void>> sending = sender_->flush();
  collect(data);
  close_chunk();
  co_return co_await std::move(sending);
}

void body_writer::collect(const_buffer data) {
  sender_->out().prepare(data.size() + max_overhead);
  if (chunked_ && collected_ == 0) sender_->out().append("0000\r\n");
  sender_->out().append({reinterpret_cast<const char*>(data.data()), data.size()});
  collected_ += data.size();
  written_ += data.size();
}

task<result<void>> body_writer::flush() {
  if (const std::error_code error = check(0)) co_return failure(error);
  task<result<void>> sending = sender_->flush();
  sender_->out().prepare(max_overhead);
  close_chunk();
  co_return co_await std::move(sending);
}

task<result<void>> body_writer::end() {
  if (const std::error_code error = check(0)) co_return failure(error);
  if (size_limit_ != unlimited && written_ != size_limit_)
    co_return failure(std::make_error_code(std::errc::message_size));
  sender_->out().prepare(max_overhead);
  close_chunk();
  if (chunked_) sender_->out().append("0\r\n\r\n");
  sender_ = nullptr;
  co_return {};
}

}}}  // namespace hocket::http
