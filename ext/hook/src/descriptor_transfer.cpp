// read, write and their families: calls on a descriptor of any kind.
//
// preadv2(2) and pwritev2(2) with RWF_NOWAIT try them without blocking: on sockets, pipes, eventfds, and on files of
// some file systems. Results of a try:
//   EAGAIN       a regular file: its bytes are not in the cache, so the call runs on the pool. Else the fiber waits.
//   EOPNOTSUPP   no try is possible. The call runs on the pool: for a file at once, else when poll(2) reports it ready.
//
// Hazard: if the peer closes a socket of which a part was written, then the next pwritev2(2) raises SIGPIPE. write(2)
// of a thread returns the size of the part, and raises none. Prevented by sendmsg(2) with MSG_NOSIGNAL for the rest. A
// pipe raises SIGPIPE also in a thread.
#include "attempts.hpp"
#include "checked_room.hpp"
#include "files.hpp"
#include "next.hpp"
#include "parts.hpp"

#include <cstdint>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

constexpr off_t at_its_place = -1;

bool is_ready(int fd, direction way) noexcept {
  pollfd pfd{fd, events_of(way), 0};
  return raw::poll(&pfd, 1, 0) != 0;
}

// For an fd that cannot be tried: the call runs on the pool when the fd is ready. It may block there, for more
// room or because another reader was faster.
template <class Call>
ssize_t call_when_ready(int fd, direction way, Call call) noexcept {
  if (is_file(fd)) return on_pool(call);
  const ssize_t done = until_done(fd, way, [&]() -> ssize_t {
    if (is_ready(fd, way)) return 0;
    errno = EAGAIN;
    return -1;
  });
  return done < 0 ? done : on_pool(call);
}

// `try_now` uses RWF_NOWAIT, `call` does not. `read_rest` follows a try that read only the cached part of a file.
template <class Size, class Try, class Call, class Rest>
ssize_t read_somehow(int fd, Size size, Try try_now, Call call, Rest read_rest) noexcept {
  const ssize_t first = try_now();
  if (first > 0 && static_cast<size_t>(first) < size() && is_file(fd)) return read_rest(first);
  if (first >= 0) return first;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return call_when_ready(fd, direction::in, call);
  if (!would_block()) return first;
  if (is_file(fd)) return on_pool(call);
  return until_done(fd, direction::in, try_now);
}

// Writes until all is written. The first try precedes size(), which reads the list of buffers: if the list is invalid,
// the system reports it.
template <class Size, class Try, class Call>
ssize_t write_somehow(int fd, Size size, Try try_from, Call call_from) noexcept {
  if (!may_begin(fd)) return -1;
  const ssize_t first = try_from(0);
  if (first < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
    return call_when_ready(fd, direction::out, [&] { return call_from(0); });
  if (first < 0 && !would_block()) return first;
  const size_t whole = size(), before = first < 0 ? 0 : static_cast<size_t>(first);
  if (first >= 0 && before >= whole) return first;
  const ssize_t more = is_file(fd) ? on_pool([&] { return call_from(before); })
                                   : until_all_is_moved(fd, direction::out, whole - before,
                                                        [&](size_t moved) { return try_from(before + moved); });
  return more >= 0 ? static_cast<ssize_t>(before) + more : first;
}

ssize_t read_parts(int fd, const iovec* parts, int count, off_t at, int flags, size_t from) noexcept {
  const off_t place = at == at_its_place ? at : at + static_cast<off_t>(from);
  return with_parts_from(parts, count, from, [&](const iovec* rest, int rest_count) {
    return place == at_its_place && flags == 0 ? raw::readv(fd, rest, rest_count)
                                               : raw::preadv2(fd, rest, rest_count, place, flags);
  });
}

ssize_t read_begun(int fd, const iovec* parts, int count, off_t at, int flags) noexcept {
  const auto rest_of = [&](ssize_t first) {
    const ssize_t more = on_pool([&] { return read_parts(fd, parts, count, at, flags, static_cast<size_t>(first)); });
    return more > 0 ? first + more : first;
  };
  return read_somehow(
      fd, [&] { return size_of(parts, count); }, [&] { return raw::preadv2(fd, parts, count, at, flags | RWF_NOWAIT); },
      [&] { return read_parts(fd, parts, count, at, flags, 0); }, rest_of);
}

ssize_t read_hooked(int fd, const iovec* parts, int count, off_t at, int flags) noexcept {
  return may_begin(fd) ? read_begun(fd, parts, count, at, flags) : -1;
}

// A socket takes one call; for another file it fails with ENOTSOCK.
ssize_t read_socket_or_other(int fd, void* data, size_t size) noexcept {
  if (!may_begin(fd)) return -1;
  const auto receive = [&] { return raw::recv(fd, data, size, MSG_DONTWAIT); };
  const iovec whole{data, size};
  if (size == 0) return read_begun(fd, &whole, 1, at_its_place, 0);  // recv() would take a message
  const ssize_t first = receive();
  if (first >= 0) return first;
  if (errno == ENOTSOCK) return read_begun(fd, &whole, 1, at_its_place, 0);
  return would_block() ? until_done(fd, direction::in, receive) : first;
}

ssize_t write_parts(int fd, const iovec* parts, int count, off_t at, int flags, size_t from) noexcept {
  const off_t place = at == at_its_place ? at : at + static_cast<off_t>(from);
  return with_parts_from(parts, count, from, [&](const iovec* rest, int rest_count) {
    return place == at_its_place && flags == 0 ? raw::writev(fd, rest, rest_count)
                                               : raw::pwritev2(fd, rest, rest_count, place, flags);
  });
}

bool is_socket(int fd) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return ::syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
}

// To a socket, of which the first `from` bytes were written.
ssize_t send_parts(int fd, const iovec* parts, int count, size_t from) noexcept {
  return with_parts_from(parts, count, from, [&](const iovec* rest, int rest_count) {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(rest);
    message.msg_iovlen = static_cast<size_t>(rest_count);
    return raw::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  });
}

ssize_t write_hooked(int fd, const iovec* parts, int count, off_t at, int flags) noexcept {
  enum class kind : std::uint8_t { unknown, socket, other } file = kind::unknown;
  return write_somehow(
      fd, [&] { return size_of(parts, count); },
      [&](size_t from) {
        if (from != 0 && file == kind::unknown) file = is_socket(fd) ? kind::socket : kind::other;
        if (from != 0 && file == kind::socket) return send_parts(fd, parts, count, from);
        return write_parts(fd, parts, count, at, flags | RWF_NOWAIT, from);
      },
      [&](size_t from) { return write_parts(fd, parts, count, at, flags, from); });
}

// A negative position is an error; to preadv2(2) -1 would mean the file's own position.
bool is_position(off_t at) noexcept {
  if (at < 0) errno = EINVAL;
  return at >= 0;
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

ssize_t read(int fd, void* data, size_t size) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.read(fd, data, size);
  return hook::quietly([&] { return hook::read_socket_or_other(fd, data, size); });
}
ssize_t __read_chk(int fd, void* data, size_t size, size_t capacity) {
  hook::expect_room(size, capacity);
  return read(fd, data, size);
}
ssize_t readv(int fd, const iovec* parts, int count) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.readv(fd, parts, count);
  return hook::quietly([&] { return hook::read_hooked(fd, parts, count, -1, 0); });
}
ssize_t pread64(int fd, void* data, size_t size, off64_t at) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.pread(fd, data, size, at);
  const iovec whole{data, size};
  return hook::is_position(at) ? hook::quietly([&] { return hook::read_hooked(fd, &whole, 1, at, 0); }) : -1;
}
ssize_t pread(int fd, void* data, size_t size, off_t at) { return pread64(fd, data, size, at); }
ssize_t __pread_chk(int fd, void* data, size_t size, off_t at, size_t capacity) {
  hook::expect_room(size, capacity);
  return pread64(fd, data, size, at);
}
ssize_t __pread64_chk(int fd, void* data, size_t size, off64_t at, size_t capacity) {
  hook::expect_room(size, capacity);
  return pread64(fd, data, size, at);
}
ssize_t preadv64(int fd, const iovec* parts, int count, off64_t at) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.preadv(fd, parts, count, at);
  return hook::is_position(at) ? hook::quietly([&] { return hook::read_hooked(fd, parts, count, at, 0); }) : -1;
}
ssize_t preadv(int fd, const iovec* parts, int count, off_t at) { return preadv64(fd, parts, count, at); }
ssize_t preadv64v2(int fd, const iovec* parts, int count, off64_t at, int flags) {
  if (!hook::is_hooked() || (flags & RWF_NOWAIT) != 0) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.preadv2(fd, parts, count, at, flags);
  return hook::quietly([&] { return hook::read_hooked(fd, parts, count, at, flags); });
}
ssize_t preadv2(int fd, const iovec* parts, int count, off_t at, int flags) {
  return preadv64v2(fd, parts, count, at, flags);
}

ssize_t write(int fd, const void* data, size_t size) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.write(fd, data, size);
  const iovec whole{const_cast<void*>(data), size};
  return hook::quietly([&] { return hook::write_hooked(fd, &whole, 1, -1, 0); });
}
ssize_t writev(int fd, const iovec* parts, int count) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.writev(fd, parts, count);
  return hook::quietly([&] { return hook::write_hooked(fd, parts, count, -1, 0); });
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.pwrite(fd, data, size, at);
  const iovec whole{const_cast<void*>(data), size};
  return hook::is_position(at) ? hook::quietly([&] { return hook::write_hooked(fd, &whole, 1, at, 0); }) : -1;
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
ssize_t pwritev64(int fd, const iovec* parts, int count, off64_t at) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.pwritev(fd, parts, count, at);
  return hook::is_position(at) ? hook::quietly([&] { return hook::write_hooked(fd, parts, count, at, 0); }) : -1;
}
ssize_t pwritev(int fd, const iovec* parts, int count, off_t at) { return pwritev64(fd, parts, count, at); }
ssize_t pwritev64v2(int fd, const iovec* parts, int count, off64_t at, int flags) {
  if (!hook::is_hooked() || (flags & RWF_NOWAIT) != 0) [[likely]]
    return hook::is_refused(fd) ? -1 : hook::next.pwritev2(fd, parts, count, at, flags);
  return hook::quietly([&] { return hook::write_hooked(fd, parts, count, at, flags); });
}
ssize_t pwritev2(int fd, const iovec* parts, int count, off_t at, int flags) {
  return pwritev64v2(fd, parts, count, at, flags);
}

// libc's versions make the system calls themselves.
int eventfd_read(int fd, eventfd_t* value) { return read(fd, value, sizeof *value) == sizeof *value ? 0 : -1; }
int eventfd_write(int fd, eventfd_t value) { return write(fd, &value, sizeof value) == sizeof value ? 0 : -1; }

}  // extern "C"
