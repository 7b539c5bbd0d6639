// recv, send and their families. MSG_DONTWAIT tries without blocking.
//
// Like a thread, a fiber waits in send() until all is sent, and in recv() with MSG_WAITALL until all has arrived.
#include "attempts.hpp"
#include "checked_room.hpp"
#include "next.hpp"
#include "parts.hpp"
#include "socket_limits.hpp"
#include "times.hpp"

#include <algorithm>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

// MSG_PEEK removes nothing, so parts cannot be joined.
bool wants_all(int flags) noexcept { return (flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL; }
// Only the bytes of streams are joined, never messages.
bool is_stream(int fd) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return ::syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

bool never_waits(int flags) noexcept { return (flags & (MSG_DONTWAIT | MSG_ERRQUEUE)) != 0; }

ssize_t recv_hooked(int fd, void* data, size_t size, int flags, sockaddr* from, socklen_t* from_size) noexcept {
  if (!may_begin(fd)) return -1;
  const auto attempt = [&](size_t moved) {
    return raw::recvfrom(fd, static_cast<char*>(data) + moved, size - moved, flags | MSG_DONTWAIT, from, from_size);
  };
  if (never_waits(flags)) return attempt(0);
  if (wants_all(flags) && is_stream(fd)) return until_all_is_moved(fd, direction::in, size, attempt);
  return until_done(fd, direction::in, [&] { return attempt(0); });
}

ssize_t send_hooked(int fd, const void* data, size_t size, int flags, const sockaddr* to, socklen_t to_size) noexcept {
  if (!may_begin(fd)) return -1;
  const auto attempt = [&](size_t moved) {
    // After a sent part a closed peer raises no SIGPIPE: the call returns the size of that part.
    const int send_flags = flags | MSG_DONTWAIT | (moved != 0 ? MSG_NOSIGNAL : 0);
    return raw::sendto(fd, static_cast<const char*>(data) + moved, size - moved, send_flags, to, to_size);
  };
  return never_waits(flags) ? attempt(0) : until_all_is_moved(fd, direction::out, size, attempt);
}

// Sends a message without its first `moved` bytes. Its control data went with the first part.
ssize_t send_rest(int fd, const msghdr& message, int flags, size_t moved) noexcept {
  return with_parts_from(message.msg_iov, static_cast<int>(message.msg_iovlen), moved,
                         [&](const iovec* rest, int rest_count) {
                           msghdr part = message;
                           part.msg_iov = const_cast<iovec*>(rest);
                           part.msg_iovlen = static_cast<size_t>(rest_count);
                           part.msg_control = nullptr;
                           part.msg_controllen = 0;
                           return raw::sendmsg(fd, &part, flags);
                         });
}

// Sends the rest of a message after `moved` bytes. Returns how many bytes of it were sent in all.
ssize_t send_until_whole(int fd, const msghdr& message, int flags, size_t moved) noexcept {
  const size_t size = size_of(message.msg_iov, static_cast<int>(message.msg_iovlen));
  if (moved >= size) return static_cast<ssize_t>(moved);
  const ssize_t rest = until_all_is_moved(fd, direction::out, size - moved, [&](size_t more) {
    return send_rest(fd, message, flags | MSG_DONTWAIT | MSG_NOSIGNAL, moved + more);
  });
  return static_cast<ssize_t>(moved) + (rest > 0 ? rest : 0);
}

ssize_t sendmsg_hooked(int fd, const msghdr* message, int flags) noexcept {
  if (!may_begin(fd)) return -1;
  if (never_waits(flags)) return raw::sendmsg(fd, message, flags);
  const ssize_t first = until_done(fd, direction::out, [&] { return raw::sendmsg(fd, message, flags | MSG_DONTWAIT); });
  return first <= 0 ? first : send_until_whole(fd, *message, flags, static_cast<size_t>(first));
}

// A socket among the received descriptors may have a limit.
void expect_received_limits(msghdr& message) noexcept {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) expect_limits();
}
ssize_t received(ssize_t size, msghdr* message) noexcept {
  if (size >= 0 && message->msg_controllen != 0) expect_received_limits(*message);
  return size;
}
int all_received(int count, mmsghdr* all) noexcept {
  for (int i = 0; i < count; ++i) received(static_cast<ssize_t>(all[i].msg_len), &all[i].msg_hdr);
  return count;
}

// With MSG_WAITALL on a stream it waits for all. The sender's address and control data belong to the first part.
ssize_t recvmsg_hooked(int fd, msghdr* message, int flags) noexcept {
  if (!may_begin(fd)) return -1;
  if (never_waits(flags)) return received(raw::recvmsg(fd, message, flags), message);
  const int now = flags | MSG_DONTWAIT;
  const ssize_t first =
      received(until_done(fd, direction::in, [&] { return raw::recvmsg(fd, message, now); }), message);
  if (first <= 0 || !wants_all(flags) || !is_stream(fd) ||
      (message->msg_flags & (MSG_EOR | MSG_TRUNC | MSG_CTRUNC)) != 0)
    return first;
  const size_t size = size_of(message->msg_iov, static_cast<int>(message->msg_iovlen)),
               moved = static_cast<size_t>(first);
  if (moved >= size) return first;
  const ssize_t rest = until_all_is_moved(fd, direction::in, size - moved, [&](size_t more) {
    return with_parts_from(message->msg_iov, static_cast<int>(message->msg_iovlen), moved + more,
                           [&](const iovec* list, int list_count) {
                             msghdr part{};
                             part.msg_iov = const_cast<iovec*>(list);
                             part.msg_iovlen = static_cast<size_t>(list_count);
                             return raw::recvmsg(fd, &part, now);
                           });
  });
  return rest > 0 ? first + rest : first;
}

// Returns how many messages. As in the system, the next call reports an error after the first message.
template <class Attempt>
int until_all_are_moved(int fd, direction way, unsigned count, bool one_is_enough, Attempt attempt) noexcept {
  retry_wait waits(fd, way);
  unsigned moved = 0;
  while (moved != count) {
    const int result = attempt(moved);
    if (result > 0) {
      moved += static_cast<unsigned>(result);
      waits.record_progress();
    }
    if (result == 0 || (result > 0 && one_is_enough)) break;
    if (result < 0 && (!would_block() || (moved != 0 && one_is_enough) || !waits.wait()))
      return moved != 0 ? static_cast<int>(moved) : -1;
  }
  return static_cast<int>(moved);
}

int sendmmsg_hooked(int fd, mmsghdr* all, unsigned count, int flags) noexcept {
  if (!may_begin(fd)) return -1;
  if (never_waits(flags)) return raw::sendmmsg(fd, all, count, flags);
  // The system stops after a message that it could send only in part.
  return until_all_are_moved(fd, direction::out, count, false, [&](unsigned moved) {
    const int result = raw::sendmmsg(fd, all + moved, count - moved, flags | MSG_DONTWAIT);
    if (result <= 0) return result;
    mmsghdr& last = all[moved + static_cast<unsigned>(result) - 1];
    last.msg_len = static_cast<unsigned>(send_until_whole(fd, last.msg_hdr, flags, last.msg_len));
    return result;
  });
}

// The time limit is checked after each message: recvmmsg(2), under BUGS.
int recvmmsg_hooked(int fd, mmsghdr* all, unsigned count, int flags, timespec* limit) noexcept {
  if (!may_begin(fd)) return -1;
  if (never_waits(flags)) return all_received(raw::recvmmsg(fd, all, count, flags, limit), all);
  const time_point end = after(limit);
  bool is_late = false;
  const int now_flags = (flags & ~MSG_WAITFORONE) | MSG_DONTWAIT;
  return until_all_are_moved(fd, direction::in, count, (flags & MSG_WAITFORONE) != 0, [&](unsigned moved) {
    if (is_late) return 0;
    const int more = raw::recvmmsg(fd, all + moved, limit ? 1 : count - moved, now_flags, nullptr);
    is_late = more > 0 && limit && now() >= end;
    return all_received(more, all + moved);
  });
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

ssize_t recv(int fd, void* data, size_t size, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.recv(fd, data, size, flags);
  return hook::quietly([&] { return hook::recv_hooked(fd, data, size, flags, nullptr, nullptr); });
}
ssize_t __recv_chk(int fd, void* data, size_t size, size_t capacity, int flags) {
  hook::expect_room(size, capacity);
  return recv(fd, data, size, flags);
}
ssize_t recvfrom(int fd, void* data, size_t size, int flags, sockaddr* from, socklen_t* from_size) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.recvfrom(fd, data, size, flags, from, from_size);
  return hook::quietly([&] { return hook::recv_hooked(fd, data, size, flags, from, from_size); });
}
ssize_t __recvfrom_chk(int fd, void* data, size_t size, size_t capacity, int flags, sockaddr* from,
                       socklen_t* from_size) {
  hook::expect_room(size, capacity);
  return recvfrom(fd, data, size, flags, from, from_size);
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::received(hook::next.recvmsg(fd, message, flags), message);
  return hook::quietly([&] { return hook::recvmsg_hooked(fd, message, flags); });
}
int recvmmsg(int fd, mmsghdr* all, unsigned count, int flags, timespec* limit) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::all_received(hook::next.recvmmsg(fd, all, count, flags, limit), all);
  return hook::quietly([&] { return hook::recvmmsg_hooked(fd, all, count, flags, limit); });
}
ssize_t send(int fd, const void* data, size_t size, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.send(fd, data, size, flags);
  return hook::quietly([&] { return hook::send_hooked(fd, data, size, flags, nullptr, 0); });
}
ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to, socklen_t to_size) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.sendto(fd, data, size, flags, to, to_size);
  return hook::quietly([&] { return hook::send_hooked(fd, data, size, flags, to, to_size); });
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.sendmsg(fd, message, flags);
  return hook::quietly([&] { return hook::sendmsg_hooked(fd, message, flags); });
}
int sendmmsg(int fd, mmsghdr* all, unsigned count, int flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.sendmmsg(fd, all, count, flags);
  return hook::quietly([&] { return hook::sendmmsg_hooked(fd, all, count, flags); });
}

}  // extern "C"
