// Reads lines, records and counted bytes from a source, by few calls of the system.
//
//   buffered_reader reader(peer);
//   while (auto line = co_await or_return(reader.read_line())) {          // a std::optional<std::string_view>
//     if (line->empty()) break;
//     handle(*line);
//   }
//   std::string_view body = co_await or_return(reader.read_exactly(length));
//
// A view is valid until the next operation of the reader: it lies where the bytes were read to. While nothing is
// unread, a reader of a source that lends (stream::read_borrowed()) owns no memory, but for a read_exactly() of more
// than 16 KB. So an idle connection has no buffer.
//
// A server tells its idle connections of its end. It knows them by wait_for_message():
//
//   for (;;) {
//     const bool more = co_await or_return(reader.wait_for_message());
//     if (!more) co_return {};
//     auto line = co_await or_return(reader.read_line());
//   }
//
// Limits. What does not fit into `most` bytes fails with message_size: the peer sends no delimiter. The bytes stay
// unread.
//
// Errors: the errors of the source; end_of_stream, if it ends in the middle. The bytes before that stay in unread().
// An operation that is cancelled or timed out takes nothing: what was read stays for the next one.
//
// Thread safety: one operation at a time. The source outlives the reader, and is read by it alone.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/io/detail/read_buffer.hpp>
#include <algorithm>
#include <optional>
#include <string>

namespace hocket { inline namespace HOCKET_ABI {

template <byte_source S>
class buffered_reader {
 public:
  explicit buffered_reader(S& from, std::size_t most = std::size_t{64} * 1024) noexcept : from_(from), most_(most) {}
  buffered_reader(const buffered_reader&) = delete;
  buffered_reader& operator=(const buffered_reader&) = delete;

  // What was read from the source and not taken yet.
  std::string_view unread() const noexcept { return buffer_.unread(); }
  // Takes the first bytes of it.
  void skip(std::size_t bytes) noexcept { buffer_.take(std::min(bytes, unread().size())); }

  // The bytes before the delimiter, which is taken, too. Nothing: the stream has ended, and nothing was unread. The
  // delimiter is copied before the call returns.
  task<result<std::optional<std::string_view>>> read_until(std::string_view delimiter) {
    return read_until_text(std::string(delimiter));
  }

  // The next line, without its end ("\n" or "\r\n"). The last line need not have one.
  task<result<std::optional<std::string_view>>> read_line() {
    auto line = co_await read_until("\n");
    if (!line && line.error() == errc::end_of_stream) co_return buffer_.take(unread().size());
    if (line && *line && (*line)->ends_with('\r')) (*line)->remove_suffix(1);
    co_return line;
  }

  // So many bytes.
  task<result<std::string_view>> read_exactly(std::size_t bytes) {
    if (bytes > most_) co_return failure(std::errc::message_size);
    while (unread().size() < bytes) {
      result<bool> more = co_await fill(bytes);
      if (!more) co_return failure(more.error());
      if (!*more) co_return failure(errc::end_of_stream);
    }
    co_return buffer_.take(bytes);
  }

  // At least one byte, as soon as there is one: what is unread, or else what the source gives. 0: the end.
  task<result<std::size_t>> read_some(mutable_buffer into) {
    if (unread().empty() && !into.empty()) {
      buffer_.clear();
      co_return co_await from_.read_some(into);
    }
    const std::string_view some = buffer_.take(std::min(unread().size(), into.size()));
    std::copy(some.begin(), some.end(), reinterpret_cast<char*>(into.data()));
    co_return some.size();
  }

  // Between two messages: waits until something is unread. False: the source has ended, or the connection was idle and
  // its server ends (stream::read_idle()).
  task<result<bool>> wait_for_message() {
    if (!unread().empty()) co_return true;
    if constexpr (requires(S& from) { from.read_idle(); }) {
      buffer_.clear();
      result<borrowed_bytes> lent = co_await from_.read_idle();
      if (!lent) co_return failure(lent.error());
      co_return buffer_.hold(std::move(*lent));
    } else {
      co_return co_await fill();
    }
  }
  // Reads more from the source, behind what is unread. False: it has ended.
  task<result<bool>> fill() { return fill(0); }

 private:
  task<result<std::optional<std::string_view>>> read_until_text(std::string delimiter) {
    std::size_t looked = 0;
    for (;;) {
      const std::size_t at = unread().find(delimiter, looked);
      if (std::min(at, unread().size()) > most_) co_return failure(std::errc::message_size);
      if (at != std::string_view::npos) {
        const std::string_view found = buffer_.take(at + delimiter.size());
        co_return found.substr(0, at);
      }
      looked = unread().size() - std::min(unread().size(), delimiter.size() - 1);
      result<bool> more = co_await fill();
      if (!more) co_return failure(more.error());
      if (*more) continue;
      if (!unread().empty()) co_return failure(errc::end_of_stream);
      co_return std::nullopt;
    }
  }

  task<result<bool>> fill(std::size_t wanted) {
    if (unread().size() >= most_) co_return failure(std::errc::message_size);
    if constexpr (lending_source<S>) {
      if (unread().empty() && wanted <= detail::lending::most_bytes) {
        buffer_.clear();
        result<borrowed_bytes> lent = co_await from_.read_borrowed();
        if (!lent) co_return failure(lent.error());
        co_return buffer_.hold(std::move(*lent));
      }
    }
    result<std::size_t> got = co_await from_.read_some(buffer_.room(wanted, most_));
    if (!got) co_return failure(got.error());
    co_return buffer_.grow(*got);
  }

  S& from_;
  const std::size_t most_;
  detail::read_buffer buffer_;
};

}}  // namespace hocket
