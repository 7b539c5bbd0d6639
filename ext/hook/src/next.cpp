#include "next.hpp"

#include <hocket/base/fatal.hpp>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

namespace raw {
namespace {

template <class Result = ssize_t, class... Args>
Result call(long number, Args... args) noexcept {
  return static_cast<Result>(::syscall(number, args...));
}

// The kernel's size of a signal mask: pselect6(2), ppoll(2), epoll_pwait(2).
constexpr size_t mask_size = 8;

}  // namespace

ssize_t read(int fd, void* data, size_t size) { return call(SYS_read, fd, data, size); }
ssize_t write(int fd, const void* data, size_t size) { return call(SYS_write, fd, data, size); }
ssize_t readv(int fd, const iovec* parts, int count) { return call(SYS_readv, fd, parts, long{count}); }
ssize_t writev(int fd, const iovec* parts, int count) { return call(SYS_writev, fd, parts, long{count}); }
ssize_t pread(int fd, void* data, size_t size, off_t at) { return call(SYS_pread64, fd, data, size, at); }
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) { return call(SYS_pwrite64, fd, data, size, at); }
// The kernel takes a position as two words; the second holds the bits beyond the first.
ssize_t preadv(int fd, const iovec* parts, int count, off_t at) {
  return call(SYS_preadv, fd, parts, long{count}, at, 0L);
}
ssize_t pwritev(int fd, const iovec* parts, int count, off_t at) {
  return call(SYS_pwritev, fd, parts, long{count}, at, 0L);
}
ssize_t preadv2(int fd, const iovec* parts, int count, off_t at, int flags) {
  return call(SYS_preadv2, fd, parts, long{count}, at, 0L, flags);
}
ssize_t pwritev2(int fd, const iovec* parts, int count, off_t at, int flags) {
  return call(SYS_pwritev2, fd, parts, long{count}, at, 0L, flags);
}
ssize_t recvfrom(int fd, void* data, size_t size, int flags, sockaddr* from, socklen_t* from_size) {
  return call(SYS_recvfrom, fd, data, size, flags, from, from_size);
}
ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to, socklen_t to_size) {
  return call(SYS_sendto, fd, data, size, flags, to, to_size);
}
ssize_t recv(int fd, void* data, size_t size, int flags) { return recvfrom(fd, data, size, flags, nullptr, nullptr); }
ssize_t send(int fd, const void* data, size_t size, int flags) { return sendto(fd, data, size, flags, nullptr, 0); }
ssize_t recvmsg(int fd, msghdr* message, int flags) { return call(SYS_recvmsg, fd, message, flags); }
ssize_t sendmsg(int fd, const msghdr* message, int flags) { return call(SYS_sendmsg, fd, message, flags); }
int recvmmsg(int fd, mmsghdr* all, unsigned count, int flags, timespec* limit) {
  return call<int>(SYS_recvmmsg, fd, all, count, flags, limit);
}
int sendmmsg(int fd, mmsghdr* all, unsigned count, int flags) { return call<int>(SYS_sendmmsg, fd, all, count, flags); }
ssize_t sendfile(int to, int from, off_t* at, size_t size) { return call(SYS_sendfile, to, from, at, size); }
ssize_t splice(int from, off_t* from_at, int to, off_t* to_at, size_t size, unsigned flags) {
  return call(SYS_splice, from, from_at, to, to_at, size, flags);
}
ssize_t copy_file_range(int from, off_t* from_at, int to, off_t* to_at, size_t size, unsigned flags) {
  return call(SYS_copy_file_range, from, from_at, to, to_at, size, flags);
}
ssize_t tee(int from, int to, size_t size, unsigned flags) { return call(SYS_tee, from, to, size, flags); }
ssize_t vmsplice(int pipe, const iovec* parts, size_t count, unsigned flags) {
  return call(SYS_vmsplice, pipe, parts, count, flags);
}
int connect(int fd, const sockaddr* to, socklen_t size) { return call<int>(SYS_connect, fd, to, size); }
int accept4(int fd, sockaddr* from, socklen_t* from_size, int flags) {
  return call<int>(SYS_accept4, fd, from, from_size, flags);
}
int accept(int fd, sockaddr* from, socklen_t* from_size) { return raw::accept4(fd, from, from_size, 0); }
int ppoll(pollfd* all, nfds_t count, const timespec* limit, const sigset_t* mask) {
  timespec changed{};  // the kernel writes the time left
  if (limit) changed = *limit;
  return call<int>(SYS_ppoll, all, count, limit ? &changed : nullptr, mask, mask_size);
}
int poll(pollfd* all, nfds_t count, int milliseconds) {
  const timespec limit{milliseconds / 1000, long{milliseconds % 1000} * 1000000};
  return raw::ppoll(all, count, milliseconds < 0 ? nullptr : &limit, nullptr);
}
int pselect(int end, fd_set* in, fd_set* out, fd_set* other, const timespec* limit, const sigset_t* mask) {
  timespec changed{};
  if (limit) changed = *limit;
  const struct {
    const sigset_t* mask;
    size_t size;
  } mask_argument{mask, mask_size};
  return call<int>(SYS_pselect6, end, in, out, other, limit ? &changed : nullptr, &mask_argument);
}
int select(int end, fd_set* in, fd_set* out, fd_set* other, timeval* limit) {
  timespec time{};
  if (limit) time = {limit->tv_sec, limit->tv_usec * 1000};
  return raw::pselect(end, in, out, other, limit ? &time : nullptr, nullptr);
}
int epoll_pwait(int epoll, epoll_event* events, int count, int milliseconds, const sigset_t* mask) {
  return call<int>(SYS_epoll_pwait, epoll, events, count, milliseconds, mask, mask_size);
}
int epoll_wait(int epoll, epoll_event* events, int count, int milliseconds) {
  return raw::epoll_pwait(epoll, events, count, milliseconds, nullptr);
}
int epoll_pwait2(int epoll, epoll_event* events, int count, const timespec* limit, const sigset_t* mask) {
  return call<int>(SYS_epoll_pwait2, epoll, events, count, limit, mask, mask_size);
}
int nanosleep(const timespec* time, timespec* remaining) { return call<int>(SYS_nanosleep, time, remaining); }
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* remaining) {
  return call<int>(SYS_clock_nanosleep, clock, flags, time, remaining) == 0 ? 0 : errno;
}
int close(int fd) { return call<int>(SYS_close, fd); }
int close_range(unsigned first, unsigned last, int flags) { return call<int>(SYS_close_range, first, last, flags); }
int dup(int fd) { return call<int>(SYS_dup, fd); }
int dup3(int from, int to, int flags) { return call<int>(SYS_dup3, from, to, flags); }
int dup2(int from, int to) {
  if (from != to) return dup3(from, to, 0);
  return fcntl(from, F_GETFD, nullptr) < 0 ? -1 : to;
}
int fcntl(int fd, int command, void* argument) { return call<int>(SYS_fcntl, fd, command, argument); }
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) {
  return call<int>(SYS_setsockopt, fd, level, name, value, size);
}
int getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
  return call<int>(SYS_getsockopt, fd, level, name, value, size);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return call<int>(SYS_openat, folder, path, flags | O_LARGEFILE, mode);
}
int fsync(int fd) { return call<int>(SYS_fsync, fd); }
int fdatasync(int fd) { return call<int>(SYS_fdatasync, fd); }
int syncfs(int fd) { return call<int>(SYS_syncfs, fd); }
int flock(int fd, int operation) { return call<int>(SYS_flock, fd, operation); }

}  // namespace raw

constinit next_functions next{};

// RTLD_NEXT does not find a statically linked sanitizer's wrapper: our function replaced it. So its second name is
// looked up, only under sanitizers: a failed lookup allocates, and the allocator may wait for our answer.
void* find_function(const char* name) noexcept {
  if constexpr (hocket::detail::sanitizer != hocket::detail::sanitizer_kind::plain) {
    char wrapper[64] = "__interceptor_";
    std::strncat(wrapper, name, sizeof wrapper - std::strlen(wrapper) - 1);
    if (void* const found = ::dlsym(RTLD_DEFAULT, wrapper)) return found;
  }
  return ::dlsym(RTLD_NEXT, name);
}

namespace {

template <class F>
void find(F& function, const char* name) noexcept {
  if (void* const found = find_function(name)) function = reinterpret_cast<F>(found);
}

void find_mutexes() noexcept {
  find(next.pthread_mutex_lock, "pthread_mutex_lock");
  find(next.pthread_mutex_trylock, "pthread_mutex_trylock");
  find(next.pthread_mutex_clocklock, "pthread_mutex_clocklock");
  find(next.pthread_mutex_unlock, "pthread_mutex_unlock");
}

void find_names() noexcept {
  find(next.getaddrinfo, "getaddrinfo");
  find(next.getnameinfo, "getnameinfo");
  find(next.gethostbyname, "gethostbyname");
  find(next.gethostbyname2, "gethostbyname2");
  find(next.gethostbyaddr, "gethostbyaddr");
  find(next.gethostbyname_r, "gethostbyname_r");
  find(next.gethostbyname2_r, "gethostbyname2_r");
  find(next.gethostbyaddr_r, "gethostbyaddr_r");
}

// Runs before the constructors of the program's own objects, after the constructors of its libraries.
[[gnu::constructor(101)]] void find_all() noexcept {
  if (!find_function("sigaction"))
    hocket::detail::fatal("hocket::hook in a program without a loader", "link it dynamically with the C library");
  find(next.read, "read");
  find(next.write, "write");
  find(next.readv, "readv");
  find(next.writev, "writev");
  find(next.pread, "pread64");
  find(next.pwrite, "pwrite64");
  find(next.preadv, "preadv64");
  find(next.pwritev, "pwritev64");
  find(next.preadv2, "preadv64v2");
  find(next.pwritev2, "pwritev64v2");
  find(next.recv, "recv");
  find(next.recvfrom, "recvfrom");
  find(next.send, "send");
  find(next.sendto, "sendto");
  find(next.recvmsg, "recvmsg");
  find(next.sendmsg, "sendmsg");
  find(next.recvmmsg, "recvmmsg");
  find(next.sendmmsg, "sendmmsg");
  find(next.sendfile, "sendfile64");
  find(next.splice, "splice");
  find(next.copy_file_range, "copy_file_range");
  find(next.tee, "tee");
  find(next.vmsplice, "vmsplice");
  find(next.connect, "connect");
  find(next.accept, "accept");
  find_mutexes();
  find(next.accept4, "accept4");
  find(next.poll, "poll");
  find(next.ppoll, "ppoll");
  find(next.select, "select");
  find(next.pselect, "pselect");
  find(next.epoll_wait, "epoll_wait");
  find(next.epoll_pwait, "epoll_pwait");
  find(next.epoll_pwait2, "epoll_pwait2");
  find(next.nanosleep, "nanosleep");
  find(next.clock_nanosleep, "clock_nanosleep");
  find(next.close, "close");
  find(next.close_range, "close_range");
  find(next.dup, "dup");
  find(next.dup2, "dup2");
  find(next.dup3, "dup3");
  find(next.setsockopt, "setsockopt");
  find(next.getsockopt, "getsockopt");
  find(next.fsync, "fsync");
  find(next.fdatasync, "fdatasync");
  find(next.syncfs, "syncfs");
  find(next.flock, "flock");
  find(next.openat, "openat64");
  find(next.fcntl, "fcntl64");
  find(next.lockf, "lockf64");
  find_names();
  find(next.sigaction, "sigaction");
  find(next.dlopen, "dlopen");
  find(next.dlclose, "dlclose");
}

}  // namespace

namespace first {
int lock(pthread_mutex_t* mutex) noexcept {
  find_mutexes();
  return next.pthread_mutex_lock(mutex);
}
int trylock(pthread_mutex_t* mutex) noexcept {
  find_mutexes();
  return next.pthread_mutex_trylock(mutex);
}
int clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) noexcept {
  find_mutexes();
  return next.pthread_mutex_clocklock(mutex, clock, limit);
}
int unlock(pthread_mutex_t* mutex) noexcept {
  find_mutexes();
  return next.pthread_mutex_unlock(mutex);
}
}  // namespace first

}}}  // namespace hocket::hook
