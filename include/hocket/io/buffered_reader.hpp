// A buffered reader: reads lines, records and counted bytes from a source, with few system calls.
//
//   buffered_reader reader(peer);
//   while (auto line = co_await or_return(reader.read_line())) {          // a std::optional<std::string_view>
//     if (line->empty()) break;
//     handle(*line);
//   }
//   std::string_view body = co_await or_return(reader.read_exactly(length));
//
// A view is valid until the next operation of the reader: it refers to the reader's memory. While no byte is unread, a
// reader of a lending source (stream::read_borrowed()) owns no memory, except for a read_exactly() of more than 16 KB.
// So an idle connection has no buffer.
//
// A server that shuts down ends its idle connections. A connection is idle while it awaits wait_for_message():
//
//   for (;;) {
//     const bool more = co_await or_return(reader.wait_for_message());
//     if (!more) co_return {};
//     auto line = co_await or_return(reader.read_line());
//   }
//
// Limits. A message has at most `max_size` bytes before its delimiter; of a line neither "\n" nor "\r\n" counts. A
// longer message fails with message_size, as soon as it is known to be longer. The result does not depend on how the
// bytes are divided on their way. The bytes stay unread.
//
// Errors: the errors of the source; end_of_stream, if the source ends in the middle of a message. The bytes before the
// end stay in unread().
//
// Cancellation. A cancelled or timed out operation takes no bytes: bytes that it read stay for the next operation.
//
// Select. If the source is a stream of hocket's, read_line(), read_until(), read_exactly() and wait_for_message() are
// operations, and arms of a select (sync/select.hpp). An arm that loses leaves the bytes that it has read in the
// reader.
//
// Thread safety: one operation at a time. The source outlives the reader, and no other code reads from it.
#pragma once
#include <hocket/base/seam/platform/algobase.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/io/detail/message_operation.hpp>
#include <hocket/io/detail/read_buffer.hpp>
#include <optional>
#include <string>

namespace hocket { inline namespace HOCKET_ABI {

// Reads from a source through a buffer.
template <byte_source S>
class buffered_reader {
 public:
  explicit buffered_reader(S& source, std::size_t max_size = std::size_t{64} * 1024) noexcept
      : source_(source), max_size_(max_size) {}
  buffered_reader(const buffered_reader&) = delete;
  buffered_reader& operator=(const buffered_reader&) = delete;

  // The bytes that were read from the source and not yet taken.
  std::string_view unread() const noexcept { return buffer_.unread(); }
  // Takes the first bytes of unread().
  void skip(std::size_t bytes) noexcept { buffer_.take(std::min(bytes, unread().size())); }

  // Returns the bytes before the delimiter, and takes both. std::nullopt: the stream has ended, and no byte was unread.
  // The delimiter is copied before the call returns.
  auto read_until(std::string_view delimiter, call_site site = this_call_site()) {
    delimiter_ = delimiter;
    return read(detail::delimiter_search(max_size_, delimiter_, false), site);
  }

  // Returns the next line, without its end ("\n" or "\r\n"). The last line need not have one.
  auto read_line(call_site site = this_call_site()) {
    return read(detail::delimiter_search(max_size_, "\n", true), site);
  }

  // Returns exactly `bytes` bytes.
  auto read_exactly(std::size_t bytes, call_site site = this_call_site()) {
    return read(detail::counted_search(max_size_, bytes), site);
  }

  // Reads at least one byte, as soon as there is one: unread bytes, or else bytes of the source. 0: the end.
  task<result<std::size_t>> read_some(mutable_buffer buffer) {
    if (unread().empty() && !buffer.empty()) {
      buffer_.clear();
      co_return co_await source_.read_some(buffer);
    }
    const std::string_view bytes = buffer_.take(std::min(unread().size(), buffer.size()));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(buffer.data()));
    co_return bytes.size();
  }

  // Waits, between two messages, until some byte is unread. False: the source has ended, or the connection was idle and
  // its server shuts down (stream::read_idle()).
  auto wait_for_message(call_site site = this_call_site()) { return read(detail::first_byte_search(max_size_), site); }
  // Reads more from the source, behind the unread bytes, while these are less than `max_size`. False: the source has
  // ended.
  task<result<bool>> fill() { return fill(0, max_size_); }

 private:
  template <class Search>
  auto read(const Search& search, [[maybe_unused]] call_site site) {
    if constexpr (detail::source_of_arms<S>) {
      using operation = detail::message_operation<S, Search>;
      return primitive::operation<operation>(std::in_place, site, source_, buffer_, search);
    } else {
      return read_by_task(search);
    }
  }
  template <class Search>
  task<result<typename Search::value_type>> read_by_task(Search search) {
    while (!search.scan(buffer_)) {
      result<bool> more = co_await fill_for(search);
      if (!more) search.fail(more.error());
      else if (!*more) search.end_source(buffer_);
      else continue;
      break;
    }
    co_return search.take(buffer_);
  }
  template <class Search>
  task<result<bool>> fill_for(const Search& search) {
    if constexpr (Search::is_idle && requires(S& source) { source.read_idle(); }) {
      buffer_.clear();
      result<borrowed_bytes> bytes = co_await source_.read_idle();
      if (!bytes) co_return failure(bytes.error());
      co_return buffer_.hold(std::move(*bytes));
    } else {
      co_return co_await fill(search.min_size(), search.max_size());
    }
  }

  // At most `max_size` bytes are unread afterwards.
  task<result<bool>> fill(std::size_t min_size, std::size_t max_size) {
    if (unread().size() >= max_size) co_return failure(std::errc::message_size);
    if constexpr (lending_source<S>) {
      if (unread().empty() && min_size <= detail::lending::most_bytes) {
        buffer_.clear();
        result<borrowed_bytes> bytes = co_await source_.read_borrowed();
        if (!bytes) co_return failure(bytes.error());
        co_return buffer_.hold(std::move(*bytes));
      }
    }
    result<std::size_t> read = co_await source_.read_some(buffer_.room(min_size, max_size));
    if (!read) co_return failure(read.error());
    co_return buffer_.grow(*read);
  }

  S& source_;
  const std::size_t max_size_;
  detail::read_buffer buffer_;
  std::string delimiter_;  // of a read_until() under way
};

}}  // namespace hocket
