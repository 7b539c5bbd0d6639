#include <hocket/http/body_writer.hpp>

#include "http/sender.hpp"

#include <array>
#include <charconv>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// A chunk of collected bytes begins with four digits, which close_chunk() fills in: "01f3\r\n". They are enough,
// because a chunk of collected bytes is smaller than flush_size plus the bytes of one write, which is smaller than
// flush_size.
static constexpr std::size_t size_digits = 4;
static_assert(2 * body_writer::flush_size <= 0xffff);

body_writer::body_writer(detail::sender& sender, bool chunked, std::uint64_t size) noexcept
    : draining_(sender.draining()), sender_(&sender), chunked_(chunked), size_limit_(size) {}

std::error_code body_writer::check(std::size_t more) const noexcept {
  if (!sender_) return std::make_error_code(std::errc::operation_not_permitted);
  if (sender_->error()) return sender_->error();
  if (more > size_limit_ - written_) return std::make_error_code(std::errc::message_size);
  return {};
}

void body_writer::open_chunk() {
  if (!chunked_ || collected_ != 0) return;
  sender_->out().append("0000\r\n");
}

void body_writer::close_chunk() {
  if (!chunked_ || collected_ == 0) return;
  char* const size = sender_->out().prepare(2) - collected_ - size_digits - 2;
  std::size_t rest = collected_;
  for (std::size_t i = size_digits; i-- > 0; rest /= 16) size[i] = "0123456789abcdef"[rest % 16];
  sender_->out().append("\r\n");
}

task<result<std::size_t>> body_writer::write_all(const_buffer data) {
  if (const std::error_code error = check(data.size())) co_return failure(error);
  close_chunk();
  collected_ = 0;
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  const bool makes_chunk = chunked_ && !text.empty();
  if (makes_chunk) {
    std::array<char, 16> number;
    const std::to_chars_result end = std::to_chars(number.data(), number.data() + number.size(), text.size(), 16);
    sender_->out().append({number.data(), static_cast<std::size_t>(end.ptr - number.data())});
    sender_->out().append("\r\n");
  }
  written_ += text.size();
  const std::string_view tail = makes_chunk ? "\r\n" : "";
  const result<void> sent = co_await sender_->send(text, tail);
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
  open_chunk();
  sender_->out().append({reinterpret_cast<const char*>(data.data()), data.size()});
  collected_ += data.size();
  written_ += data.size();
  if (collected_ < flush_size) co_return {};
  co_return co_await flush();
}

task<result<void>> body_writer::flush() {
  if (const std::error_code error = check(0)) co_return failure(error);
  close_chunk();
  collected_ = 0;
  co_return co_await sender_->flush();
}

task<result<void>> body_writer::end() {
  if (const std::error_code error = check(0)) co_return failure(error);
  if (size_limit_ != unlimited && written_ != size_limit_)
    co_return failure(std::make_error_code(std::errc::message_size));
  close_chunk();
  collected_ = 0;
  if (chunked_) sender_->out().append("0\r\n\r\n");
  sender_ = nullptr;
  co_return {};
}

}}}  // namespace hocket::http
