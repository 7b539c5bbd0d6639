// send_file: sends bytes of a file to a stream, without a copy in user space (sendfile(2)).
//
//   std::size_t sent = co_await or_return(send_file(peer, file.native_handle(), 0, size));
//
// It returns how many bytes were sent: less than `count`, if the file ends before.
//
// It is a write of the stream: other writes wait until it is over. If it fails, or a cancel or a deadline ends it, in
// the middle, partial_write_size() returns how many bytes were sent, and every further write fails with
// errc::partial_write (stream.hpp).
//
// Errors: the errors of sendfile(2); invalid_argument for an unsupported stream, as standard_output();
// operation_canceled, if the stream is closed meanwhile.
//
// Cost. If bytes are not in the system's cache, the thread that polls for the stream reads them from the disk, at most
// 256 KB at a time. If that may take long, read the file by its own operations (io/file.hpp).
//
// Thread safety, cancellation: io/descriptor.hpp.
#pragma once
#include <hocket/io/detail/file_part.hpp>
#include <hocket/io/stream.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

struct send_file_operation : pointing_operation<send_file_operation> {
  static constexpr bool needs_several_calls = true;
  using value_type = std::size_t;
  send_file_operation(direction& target, int file, std::uint64_t offset, std::size_t count) noexcept
      : pointing_operation(target, call_kind::send_file, nullptr, count, true), part{offset, file} {}
  bool point() noexcept {
    if (size == 0) return false;
    data = &part;
    return true;
  }
  bool try_pointed() noexcept {
    return side->has_partial_write() ? side->try_behind_cut(*this) : transfer_operation::try_now();
  }
  result<std::size_t> take() noexcept {
    if (error != 0) return failure_of_transfer(*this);
    return done;
  }
  void resumed() noexcept {
    if (holds != 0) side->release_held(*this);
  }

  file_part part;
};

}  // namespace detail

// Sends `count` bytes of the file `file`, an fd that stays open until the operation is over, from `offset` on.
inline auto send_file(stream& sink, int file, std::uint64_t offset, std::size_t count,
                      call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::send_file_operation>(
      std::in_place, site, detail::descriptor_access::record_of(sink).out, file, offset, count);
}
// Also writes the count of the bytes to `moved`, which outlives the operation.
inline auto send_file(stream& sink, int file, std::uint64_t offset, std::size_t count, std::size_t& moved,
                      call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::counting_operation<detail::send_file_operation>>(
      std::in_place, site, moved, detail::descriptor_access::record_of(sink).out, file, offset, count);
}

}}  // namespace hocket
