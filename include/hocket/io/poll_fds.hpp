// poll_fds: waits for fds that other code owns: a database client, a resolver, a library.
//
//   std::array<pollfd, 2> fds{pollfd{PQsocket(db), POLLIN, 0}, pollfd{wakeup, POLLIN, 0}};
//   std::size_t ready = co_await or_return(within(3s, poll_fds(fds)));
//   if (fds[0].revents != 0) PQconsumeInput(db);
//
// Like poll(2), but only the coroutine waits.
//
// `events` has the events to wait for, `revents` the events that are present; POLLERR, POLLHUP and POLLNVAL are always
// reported; a negative fd is skipped. The result is the number of fds with events, at least 1. A regular file is always
// ready. The fds need not be non-blocking, and are not changed. The span is valid until the operation is over.
//
// Several coroutines, on several workers, may wait for one fd. It may also belong to a descriptor of hocket. Call
// stop_polling() before an fd is closed: the system reports a close to no waiter.
//
// Errors: operation_canceled after stop_polling(), or if the loop ends; the errors of poll(2), and of registering
// (ENOMEM, ENOSPC, EMFILE).
//
// Cancellation. A cancelled or timed out wait has no effect, but `revents` may have been written.
//
// Cost: one poll(2) of the whole set. A wait adds one epoll_ctl(2) for each fd, and one poll(2) at each event.
#pragma once
#include <hocket/io/detail/fd_poll.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI {

inline auto poll_fds(std::span<pollfd> fds, call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::poll_operation>(std::in_place, site, fds);
}

// poll_fds() for one fd, after the coroutine has tried its call and the call would block:
//
//   while (redisBufferRead(c) ...)                                    // would block
//     short events = co_await or_return(poll_fd(c->fd, POLLIN));      // then try again
//
// It returns the events that the system reported. They may be stale when the coroutine runs, so it tries its call
// again. Cost: one epoll_ctl(2), no poll(2). Errors: operation_not_permitted for a regular file; bad_file_descriptor.
inline auto poll_fd(int fd, short events, call_site site = this_call_site()) noexcept {
  return primitive::operation<detail::readiness_operation>(std::in_place, site, fd, events);
}

// Ends all waits of poll_fds() and poll_fd() for this fd with operation_canceled. Any thread.
void stop_polling(int fd) noexcept;

}}  // namespace hocket
