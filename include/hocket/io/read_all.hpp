// read_all: reads all bytes up to the end of a stream.
//
//   auto text = co_await or_return(within(10s, read_all(ls.out())));      // in a fiber: await(within(10s, ...))
//
// Limits. The limit protects memory: a longer stream fails with message_size. This and any other error, a cancel or a
// deadline lose the bytes that were read. The form with a string keeps them:
//
//   std::string text;
//   auto read = co_await within(10s, read_all(ls.out(), text));           // text has the bytes of 10 s
//
// To process the bytes in pieces, use stream::read_some(). For files use file::read_all().
//
// Thread safety, cancellation: io/descriptor.hpp.
#pragma once
#include <hocket/io/detail/whole_read.hpp>
#include <hocket/io/stream.hpp>
#include <string>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

struct read_all_operation : pointing_operation<read_all_operation> {
  static constexpr bool needs_several_calls = true;
  using value_type = std::string;

  read_all_operation(direction& source, std::size_t limit) noexcept
      : pointing_operation(source, call_kind::read_all, nullptr, limit) {}
  // False: there is no memory for the state.
  bool point() noexcept;
  static void forget() noexcept {}  // the memory is on the heap
  result<std::string> take() noexcept;
  void wait_failed() noexcept;
  void resumed() noexcept;
};

// Reads into a string of the caller.
struct append_all_operation : pointing_operation<append_all_operation> {
  static constexpr bool needs_several_calls = true;
  using value_type = std::size_t;

  append_all_operation(direction& source, std::string& target, std::size_t limit) noexcept
      : pointing_operation(source, call_kind::read_all, nullptr, limit), text(&target), before(target.size()) {}
  bool point() noexcept;
  static void forget() noexcept {}
  result<std::size_t> take() noexcept;
  // However the operation ended, cuts the string behind the bytes that were read.
  void resumed() noexcept;

  std::string* text;
  std::size_t before;
};

}  // namespace detail

// The default limit of read_all() and read_file(), in bytes: 16 MiB.
inline constexpr std::size_t default_read_limit = std::size_t{16} << 20;

// Reads all bytes up to the end of the stream, at most `limit`. Errors: the errors of a read; message_size, if there
// are more bytes; not_enough_memory.
inline auto read_all(stream& source, std::size_t limit = default_read_limit,
                     call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::read_all_operation>(std::in_place, site,
                                                          detail::descriptor_access::record_of(source).in, limit);
}
// Appends all bytes up to the end of the stream to `text`, which has at most `limit` bytes in all. Returns how many
// bytes were appended. If it fails, is cancelled, timed out or killed, then `text` has the bytes that were read; with
// message_size one byte more than the limit. The caller leaves `text` alone until the operation is over. Errors: as
// above.
inline auto read_all(stream& source, std::string& text, std::size_t limit = default_read_limit,
                     call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::append_all_operation>(
      std::in_place, site, detail::descriptor_access::record_of(source).in, text, limit);
}

}}  // namespace hocket
