// Whether this is the process that made something, or a child by fork() that has a copy of it without its threads.
//
// # Objects of the system
//
// A forked child has the fds of its parent. Each fd is the child's own, and the object behind it is not: an eventfd, an
// epoll or a pidfd is one object of both processes. The rule for the objects that hocket makes for itself:
//   - Its maker notes forks_so_far(), or registers fork handlers.
//   - Another process neither reads nor writes the object, and does not change what it watches. It may close its fd.
//   - If a child needs such an object, it makes one of its own.
// Objects of users are shared on purpose: descriptors, streams, listeners, event counters.
//
// # Children that are not noticed
//
// fork() calls the fork handlers (pthread_atfork(3)). vfork(2), clone(2) and _Fork(3) call none, and their children may
// share the memory of the parent. There a signal handler of hocket may run, and it asks has_called_fork_handlers().
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// How many forks lie between the process that asked first and this one. Any thread. After the first call also a signal
// handler.
std::uint32_t forks_so_far() noexcept;

// False in a child of vfork(2), clone(2) or _Fork(3). A system call. Any thread and signal handler, after the first
// forks_so_far().
bool has_called_fork_handlers() noexcept;

}}}  // namespace hocket::detail
