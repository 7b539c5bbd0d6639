// Marked sockets: connections in doubt, because a fiber was ended between a request and its answer.
//
// Purpose. If a hooked wait at a connection ends early, the answer may still arrive. The next request on that
// connection would read it: one user's data go to another user. The pool of the program asks its client library
// whether the connection is idle. libpq calls a connection idle after an error that it does not take for a failure of
// the connection. So the socket itself refuses: from the mark to its close, each transfer fails with ECONNABORTED,
// which every client library takes for a dead connection (decision 050).
//
// Which sockets are marked. A stream socket that is connected or connecting, or was reset: bytes that arrived before
// the reset can still be read, and libpq reads them after a request that it could not send. Not a listener, a datagram
// socket or a pipe: they carry requests of many peers, or none. Not an end of socketpair(2): both ends are without a
// name, and belong to the program itself, as libcurl's pipe to wake its own poll(). Not a standard stream of the
// process, which may be a socket (of a log service, of inetd): all of the program writes to it, and no code closes it.
// The standard streams are known by their cookies at the start of the program, and since a dup2() over their numbers.
// Numbers 0 to 2 that were closed and are used again by connections are marked as others.
//
// When. A wait at such a socket was ended by a cancel, a kill, a deadline or the limit of hook::within(); or it could
// not begin, because the fiber must not wait (see only_tries() in caller.hpp); or a transfer of a killed fiber was
// refused. Also if a part was moved before: the call returns its size, and the next one fails.
//
// The table. It maps a number to the SO_COOKIE of the marked socket: a number of that socket alone, which the kernel
// never uses again. A transfer first reads how many marks there are (usually none), then the entry of its number. Only
// if the entry is set, it asks the socket for its cookie. If the cookie differs, the number was closed
// without our close() and belongs to another socket: the entry is removed.
//
//   entry of a number   0                      no mark
//                       cookie                 transfers fail, if the socket of this number has that cookie
//
// close(), close_range() and dup2() remove the entries of the numbers that they close, and dup(), dup2(), dup3() and
// fcntl(F_DUPFD) copy an entry: the copy is the same connection. They remove by compare-and-exchange from the cookie
// that they read before the close. Hazard: if another thread is given the number meanwhile and marks its new socket,
// then a plain store would remove that mark. Prevented by the comparison, since its cookie is another.
// A copy of a number that was made before the mark is not found.
//
// Waits that began before the mark. shutdown(SHUT_RD) follows the entry. The kernel wakes each wait for input of the
// socket: a poll, an epoll, a plain thread, at this number or at an earlier copy; and no wait can begin unnoticed
// between the test of the entry and the shutdown. The peer of a TCP connection sees nothing of it. The peer of a unix
// socket gets EPIPE when it writes. A socket that connects stops to connect. Hooked calls at this number that wait for
// room are woken by retry(). Elsewhere a wait for room alone continues until there is room: only SHUT_RDWR would wake
// it, which raises SIGPIPE in plain threads that write.
//
// Numbers that are used again. Hazard: a fiber waits at a number and is cancelled; before it runs, another one closes
// the number and opens a connection, which gets the same number. Then the first fiber would mark the connection of the
// other. Prevented by the closes that watched_fds.hpp counts: a caller states when its wait began, and the mark asks
// after it has read the cookie. A close by another thread between that and the shutdown is not found: then the new
// connection reports its end, and no wrong data.
//
// Memory. The pages of the table are made by mmap(2) at the first mark of a number in them and never freed. A mark is
// set in signal handlers, too: no lock, no allocator. If there is no memory, or the number is beyond the table, the
// socket is shut down instead: bytes that arrived before can still be read then, but no request can be sent. The same
// holds for a copy.
//
// Thread safety. Any thread, any signal handler. A fiber that is given a connection by another one sees its mark,
// because handing the connection over orders both. Orderings: see the .cpp file.
#pragma once
#include <hocket/base/seam/atomic.hpp>

#include "watched_fds.hpp"

#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// How many numbers are marked.
[[gnu::visibility("hidden")]] extern primitive::atomic<std::uint32_t> marks;

inline bool has_marks() noexcept {
  // ORDER: relaxed, pairs with the stores in set_entry(): handing the connection to this fiber orders both.
  return marks.load(std::memory_order_relaxed) != 0;
}

// Whether the number's own entry refers to the socket that it has now. Leaves errno as it was.
bool is_marked_now(int fd) noexcept;
inline bool is_marked(int fd) noexcept { return has_marks() && is_marked_now(fd); }

// Whether a transfer at this number fails; then errno is ECONNABORTED.
bool refuse_if_marked(int fd) noexcept;
inline bool is_refused(int fd) noexcept { return has_marks() && refuse_if_marked(fd); }

// Marks the socket if it is a connected or connecting stream socket, unless the number was closed after `begin`
// (watched_fds.hpp). Returns whether it is marked. Leaves errno as it was.
bool mark_if_connected(int fd, close_count begin) noexcept;

// After a call at this number was ended, with the error in errno: marks the socket. ECANCELED becomes ECONNABORTED if
// the socket is marked; the ETIMEDOUT of a deadline stays. EBADF if the number was closed after `begin`.
void abandon(int fd, close_count begin) noexcept;
// The same for a connect(): marks each stream socket.
void abandon_connect(int fd, close_count begin) noexcept;

// Input, output, error: 0, 1, 2.
inline constexpr int standard_streams = 3;
// This number is a standard stream from now on, if it is a socket.
void record_standard_stream(int fd) noexcept;

// The entry of a number before it is closed or replaced; 0: none.
std::uint64_t mark_of(int fd) noexcept;
// After it was closed or replaced.
void remove_mark(int fd, std::uint64_t mark) noexcept;
void remove_marks(unsigned first, unsigned last) noexcept;
// After `copy` was made of `fd`.
void copy_mark(int fd, int copy) noexcept;

}}}  // namespace hocket::hook
