// The standard streams of this process, for coroutines that read and write them.
//
//   auto in = standard_input().value();
//   auto out = standard_output().value();
//   co_await or_return(out.write_all("what is your name? "));
//
// Whether a call blocks is a property that processes share: if this one made its terminal non-blocking, the shell and
// the other programs of a pipeline would get errors that they do not expect. So numbers 0 to 2 stay as they are, and
//   - terminals and pipes are opened once more, as /proc/self/fd has them. The new number is non-blocking, the old one
//     is not;
//   - where that is not possible (another user's terminal, no /proc), and for other devices, each call is preceded by
//     poll(2). If another process takes the bytes between the two calls, the thread blocks until there are more;
//   - sockets are read and written by calls that do not block, whatever the socket is;
//   - regular files never wait, and share their position with numbers 0 to 2: a call may block its thread on the disk.
//
// Each call gives a stream of its own. Closing it leaves numbers 0 to 2 open. So a reader of the standard output gets
// the end of the stream when the process ends, or closes number 1 itself. Streams of the C and C++ libraries have
// buffers of their own: flush them, so that what is written stays in order.
//
// Errors: bad_file_descriptor if the fd is closed; too_many_files_open; not_enough_memory.
#pragma once
#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// Number 0.
result<stream> standard_input() noexcept;
// Number 1.
result<stream> standard_output() noexcept;
// Number 2.
result<stream> standard_error() noexcept;

}}  // namespace hocket
