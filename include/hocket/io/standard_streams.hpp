// The standard streams of this process, for coroutines.
//
//   auto in = standard_input().value();
//   auto out = standard_output().value();
//   co_await or_return(out.write_all("your name? "));
//
// Processes share the blocking mode of a stream: if this process made its terminal non-blocking, the shell and the
// other programs of a pipeline would get errors that they do not expect. So fds 0 to 2 keep their mode, and
//   - terminals and pipes are opened again by /proc/self/fd. The new fd is non-blocking, the old fd is not;
//   - if that is not possible (another user's terminal, no /proc), and for other devices, poll(2) precedes each call.
//     If another process takes the bytes between the two calls, the thread blocks until there are more;
//   - sockets are read and written by non-blocking calls, in either mode of the socket;
//   - regular files never wait, and share their position with fds 0 to 2: a call may block its thread on the disk.
//
// Each call returns a stream of its own. Closing it leaves fds 0 to 2 open. So a reader of the standard output gets the
// end of the stream when the process ends, or closes fd 1 itself. Streams of the C and C++ libraries have buffers of
// their own: flush them, to keep the output in order.
//
// Errors: bad_file_descriptor, if the fd is closed; too_many_files_open; not_enough_memory.
#pragma once
#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// A stream of fd 0.
result<stream> standard_input() noexcept;
// A stream of fd 1.
result<stream> standard_output() noexcept;
// A stream of fd 2.
result<stream> standard_error() noexcept;

}}  // namespace hocket
