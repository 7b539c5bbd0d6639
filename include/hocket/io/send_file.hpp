// send_file: sends bytes of a file to a stream, without a copy in user space (sendfile(2)).
//
//   std::size_t sent = co_await or_return(send_file(peer, file.native_handle(), 0, size));
//
// It returns how many bytes were sent: less than `count`, if the file ends before.
//
// Errors: the errors of sendfile(2); invalid_argument for an unsupported stream, as standard_output();
// operation_canceled, if the stream is closed meanwhile.
//
// Do not write to the stream before send_file() is over: the caller prevents other writes.
//
// Cost. If bytes are not in the system's cache, the thread of the coroutine reads them from the disk, not a driver. If
// that may take long, run it by blocking().
//
// Cancellation. If send_file() is cancelled or timed out in the middle, a part of the bytes is sent.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/io/stream.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

task<result<std::size_t>> send_file(stream& sink, int file, std::uint64_t offset, std::size_t count);

}}  // namespace hocket
