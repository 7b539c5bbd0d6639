// read_all: everything up to the end of a stream.
//
//   auto text = co_await or_return(within(10s, read_all(ls.out())));      // in a fiber: await(within(10s, ...))
//
// The limit protects memory: a stream that is longer is an error, message_size, and what was read is lost, as by every
// other error, a cancel or a deadline. To keep what has come, or to treat it piece by piece, use stream::read_some().
// Files: file::read_all().
//
// Thread safety, cancellation, deadlines: io/descriptor.hpp.
#pragma once
#include <hocket/io/detail/whole_read.hpp>
#include <hocket/io/stream.hpp>
#include <string>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

struct read_all_operation : pointing_operation<read_all_operation> {
  using value_type = std::string;

  read_all_operation(direction& of, std::size_t most) noexcept
      : pointing_operation(of, call_kind::read_all, nullptr, most) {}
  // Whether there is memory. An operation that has ended needs none.
  bool point() noexcept;
  static void forget() noexcept {}  // the memory is on the heap
  result<std::string> take() noexcept;
  void resumed() noexcept;
};

}  // namespace detail

// How many bytes read_all() and read_file() read at most, if nothing else is said: 16 MiB.
inline constexpr std::size_t default_read_limit = std::size_t{16} << 20;

// All bytes until the end of the stream, at most `limit`. Errors: the errors of a read; message_size if there are more;
// not_enough_memory.
inline auto read_all(stream& from, std::size_t limit = default_read_limit, call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::read_all_operation>(std::in_place, at,
                                                          detail::descriptor_access::record_of(from).in, limit);
}

}}  // namespace hocket
