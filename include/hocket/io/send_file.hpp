// send_file: bytes of a file to a stream, without a copy in user space (sendfile(2)).
//
//   std::size_t sent = co_await or_return(send_file(peer, file.native_handle(), 0, size));
//
// Gives how many bytes were sent: less than `count`, if the file ends before. Errors: of sendfile(2); invalid_argument
// for what it does not support, as
// standard_output(); operation_canceled if the stream is closed meanwhile.
//
// What is not in the system's cache is read from the disk by the thread of the coroutine, not by a driver. If that may
// take long, run it by blocking(). Other writes to the stream wait until this one is over: the caller sees to that. A
// send that is cancelled or timed out in the middle has sent a part of the bytes.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/io/stream.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

task<result<std::size_t>> send_file(stream& to, int file, std::uint64_t offset, std::size_t count);

}}  // namespace hocket
