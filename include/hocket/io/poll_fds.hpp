// poll_fds: readiness of numbers that stay somebody else's: a database client's, a resolver's, a library's.
//
//   std::array<pollfd, 2> wanted{pollfd{PQsocket(db), POLLIN, 0}, pollfd{bell, POLLIN, 0}};
//   std::size_t ready = co_await or_return(within(3s, poll_fds(wanted)));
//   if (wanted[0].revents != 0) PQconsumeInput(db);
//
// It is poll(2), but the coroutine alone waits.
//
// `events` says what is waited for, `revents` what there is; POLLERR, POLLHUP and POLLNVAL are always told;
// a negative number is left out. It gives how many numbers have something to tell, at least 1. A regular file is always
// ready. Numbers need not be non-blocking, and are not changed. The span is valid until the operation is over.
//
// An fd may be waited for by several coroutines, on several workers, and may be one of a descriptor of hocket. Call
// stop_polling() before an fd is closed: the system tells no waiter of a close.
//
// Errors: operation_canceled after stop_polling(), or if the loop ends; the errors of poll(2), and of registering
// (ENOMEM, ENOSPC, EMFILE). Cancellation and deadlines: nothing has happened, `revents` may have been written.
//
// Cost: one poll(2) of the whole set. To wait: one epoll_ctl(2) for each fd, and one poll(2) at each event.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/io/detail/fd_poll.hpp>

namespace hocket { inline namespace HOCKET_ABI {

inline auto poll_fds(std::span<pollfd> fds, call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::poll_operation>(std::in_place, at, fds);
}

// poll_fds() for one fd, after the coroutine has tried its call and the call would block:
//
//   while (redisBufferRead(c) ...)                                    // would block
//     short told = co_await or_return(poll_fd(c->fd, POLLIN));    // then try again
//
// It returns the events that the system reported. They may be stale when the coroutine runs, so it tries its call
// again. Cost: one epoll_ctl(2), no poll(2). A regular file: operation_not_permitted.
inline auto poll_fd(int fd, short events, call_site at = this_call_site()) noexcept {
  return primitive::operation<detail::readiness_operation>(std::in_place, at, fd, events);
}

// Any thread. Ends the waits of poll_fds() and poll_fd() for that number with operation_canceled.
void stop_polling(int fd) noexcept;

}}  // namespace hocket
