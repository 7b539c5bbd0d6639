// Pipes: what is written at one end is read at the other, in this process or between processes.
//
//   auto [reader, writer] = make_pipe().value();
//   co_await or_return(writer.write_all("through the pipe"));
//   writer.close();
//   auto text = co_await or_return(read_all(reader));
//
// A pipe has a buffer, 64 KiB unless the system says otherwise. A write waits while it is full. A write of at most 4096
// bytes is not mixed with the writes of others. When all writers are closed, the reader gets the end of the stream.
// When all readers are closed, a write is broken_pipe, and no signal is raised.
//
// Both ends are non-blocking and are not inherited by programs that are started. The ends for a child process:
// io/process.hpp. What waiting means: io/descriptor.hpp.
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
