// Pipes: bytes that are written at one end are read at the other end, in this process or between processes.
//
//   auto [reader, writer] = make_pipe().value();
//   co_await or_return(writer.write_all("through the pipe"));
//   writer.close();
//   auto text = co_await or_return(read_all(reader));
//
// Guarantees. A pipe has a buffer, 64 KiB unless the system is configured otherwise. A write waits while the buffer is
// full. A write of at most 4096 bytes is not mixed with other writes. When all writers are closed, the reader gets the
// end of the stream. When all readers are closed, a write fails with broken_pipe and raises no signal.
//
// Both ends are non-blocking, and started programs do not inherit them. For the pipes of a child process see
// io/process.hpp; for waits, io/descriptor.hpp.
#pragma once
#include <hocket/io/stream.hpp>

namespace hocket { inline namespace HOCKET_ABI {

// The two ends of a pipe.
struct pipe_ends {
  stream reader, writer;
};

// Makes a pipe. Errors: too_many_files_open, too_many_files_open_in_system, not_enough_memory.
result<pipe_ends> make_pipe() noexcept;

}}  // namespace hocket
