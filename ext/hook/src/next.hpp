// The functions behind ours: libc's, or another library's replacements of libc's.
//
// A constructor asks the loader for them. Until then they are the system calls themselves. So a library may call ours
// before main(), and jemalloc may call read() while the loader allocates. A statically linked program has no loader,
// and is refused.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// The bare system calls: no cancellation point, no hook.
namespace raw {
ssize_t read(int fd, void* data, size_t size);
ssize_t write(int fd, const void* data, size_t size);
ssize_t readv(int fd, const iovec* parts, int count);
ssize_t writev(int fd, const iovec* parts, int count);
ssize_t pread(int fd, void* data, size_t size, off_t at);
ssize_t pwrite(int fd, const void* data, size_t size, off_t at);
ssize_t preadv(int fd, const iovec* parts, int count, off_t at);
ssize_t pwritev(int fd, const iovec* parts, int count, off_t at);
ssize_t preadv2(int fd, const iovec* parts, int count, off_t at, int flags);
ssize_t pwritev2(int fd, const iovec* parts, int count, off_t at, int flags);
ssize_t recvfrom(int fd, void* data, size_t size, int flags, sockaddr* from, socklen_t* from_size);
ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to, socklen_t to_size);
ssize_t recv(int fd, void* data, size_t size, int flags);
ssize_t send(int fd, const void* data, size_t size, int flags);
ssize_t recvmsg(int fd, msghdr* message, int flags);
ssize_t sendmsg(int fd, const msghdr* message, int flags);
int recvmmsg(int fd, mmsghdr* all, unsigned count, int flags, timespec* limit);
int sendmmsg(int fd, mmsghdr* all, unsigned count, int flags);
ssize_t sendfile(int to, int from, off_t* at, size_t size);
ssize_t splice(int from, off_t* from_at, int to, off_t* to_at, size_t size, unsigned flags);
ssize_t copy_file_range(int from, off_t* from_at, int to, off_t* to_at, size_t size, unsigned flags);
ssize_t tee(int from, int to, size_t size, unsigned flags);
ssize_t vmsplice(int pipe, const iovec* parts, size_t count, unsigned flags);
int connect(int fd, const sockaddr* to, socklen_t size);
int accept(int fd, sockaddr* from, socklen_t* from_size);
int accept4(int fd, sockaddr* from, socklen_t* from_size, int flags);
int poll(pollfd* all, nfds_t count, int milliseconds);
int ppoll(pollfd* all, nfds_t count, const timespec* limit, const sigset_t* mask);
int select(int end, fd_set* in, fd_set* out, fd_set* other, timeval* limit);
int pselect(int end, fd_set* in, fd_set* out, fd_set* other, const timespec* limit, const sigset_t* mask);
int epoll_wait(int epoll, epoll_event* events, int count, int milliseconds);
int epoll_pwait(int epoll, epoll_event* events, int count, int milliseconds, const sigset_t* mask);
int epoll_pwait2(int epoll, epoll_event* events, int count, const timespec* limit, const sigset_t* mask);
int nanosleep(const timespec* time, timespec* remaining);
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* remaining);  // returns the error
int close(int fd);
int close_range(unsigned first, unsigned last, int flags);
int dup(int fd);
int dup2(int from, int to);
int dup3(int from, int to, int flags);
int fcntl(int fd, int command, void* argument);
int setsockopt(int fd, int level, int name, const void* value, socklen_t size);
int getsockopt(int fd, int level, int name, void* value, socklen_t* size);
int openat(int folder, const char* path, int flags, ...);
int fsync(int fd);
int fdatasync(int fd);
int syncfs(int fd);
int flock(int fd, int operation);
}  // namespace raw

// Until the loader was asked: these ask it.
namespace first {
int lock(pthread_mutex_t* mutex) noexcept;
int trylock(pthread_mutex_t* mutex) noexcept;
int clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* limit) noexcept;
int unlock(pthread_mutex_t* mutex) noexcept;
}  // namespace first

struct next_functions {
  decltype(&raw::read) read = raw::read;
  decltype(&raw::write) write = raw::write;
  decltype(&raw::readv) readv = raw::readv;
  decltype(&raw::writev) writev = raw::writev;
  decltype(&raw::pread) pread = raw::pread;
  decltype(&raw::pwrite) pwrite = raw::pwrite;
  decltype(&raw::preadv) preadv = raw::preadv;
  decltype(&raw::pwritev) pwritev = raw::pwritev;
  decltype(&raw::preadv2) preadv2 = raw::preadv2;
  decltype(&raw::pwritev2) pwritev2 = raw::pwritev2;
  decltype(&raw::recv) recv = raw::recv;
  decltype(&raw::recvfrom) recvfrom = raw::recvfrom;
  decltype(&raw::send) send = raw::send;
  decltype(&raw::sendto) sendto = raw::sendto;
  decltype(&raw::recvmsg) recvmsg = raw::recvmsg;
  decltype(&raw::sendmsg) sendmsg = raw::sendmsg;
  decltype(&raw::recvmmsg) recvmmsg = raw::recvmmsg;
  decltype(&raw::sendmmsg) sendmmsg = raw::sendmmsg;
  decltype(&raw::sendfile) sendfile = raw::sendfile;
  decltype(&raw::splice) splice = raw::splice;
  decltype(&raw::copy_file_range) copy_file_range = raw::copy_file_range;
  decltype(&raw::tee) tee = raw::tee;
  decltype(&raw::vmsplice) vmsplice = raw::vmsplice;
  decltype(&raw::connect) connect = raw::connect;
  decltype(&raw::accept) accept = raw::accept;
  decltype(&raw::accept4) accept4 = raw::accept4;
  decltype(&raw::poll) poll = raw::poll;
  decltype(&raw::ppoll) ppoll = raw::ppoll;
  decltype(&raw::select) select = raw::select;
  decltype(&raw::pselect) pselect = raw::pselect;
  decltype(&raw::epoll_wait) epoll_wait = raw::epoll_wait;
  decltype(&raw::epoll_pwait) epoll_pwait = raw::epoll_pwait;
  decltype(&raw::epoll_pwait2) epoll_pwait2 = raw::epoll_pwait2;
  decltype(&raw::nanosleep) nanosleep = raw::nanosleep;
  decltype(&raw::clock_nanosleep) clock_nanosleep = raw::clock_nanosleep;
  decltype(&raw::close) close = raw::close;
  decltype(&raw::close_range) close_range = raw::close_range;
  decltype(&raw::dup) dup = raw::dup;
  decltype(&raw::dup2) dup2 = raw::dup2;
  decltype(&raw::dup3) dup3 = raw::dup3;
  decltype(&raw::setsockopt) setsockopt = raw::setsockopt;
  decltype(&raw::getsockopt) getsockopt = raw::getsockopt;
  decltype(&raw::fsync) fsync = raw::fsync;
  decltype(&raw::fdatasync) fdatasync = raw::fdatasync;
  decltype(&raw::syncfs) syncfs = raw::syncfs;
  decltype(&raw::flock) flock = raw::flock;
  decltype(&raw::openat) openat = raw::openat;
  // These have no equal system call: null until the loader was asked.
  int (*fcntl)(int, int, ...) = nullptr;
  int (*lockf)(int, int, off_t) = nullptr;
  int (*sem_timedwait)(sem_t*, const timespec*) = nullptr;
  int (*sem_clockwait)(sem_t*, clockid_t, const timespec*) = nullptr;
  int (*getaddrinfo)(const char*, const char*, const addrinfo*, addrinfo**) = nullptr;
  int (*getnameinfo)(const sockaddr*, socklen_t, char*, socklen_t, char*, socklen_t, int) = nullptr;
  int (*gethostbyname_r)(const char*, hostent*, char*, size_t, hostent**, int*) = nullptr;
  int (*gethostbyname2_r)(const char*, int, hostent*, char*, size_t, hostent**, int*) = nullptr;
  int (*gethostbyaddr_r)(const void*, socklen_t, int, hostent*, char*, size_t, hostent**, int*) = nullptr;
  hostent* (*gethostbyname)(const char*) = nullptr;
  hostent* (*gethostbyname2)(const char*, int) = nullptr;
  hostent* (*gethostbyaddr)(const void*, socklen_t, int) = nullptr;
  int (*sigaction)(int, const struct sigaction*, struct sigaction*) = nullptr;
  void* (*dlopen)(const char*, int) = nullptr;
  int (*dlclose)(void*) = nullptr;
  // The first call asks the loader.
  decltype(&first::lock) pthread_mutex_lock = first::lock;
  decltype(&first::lock) pthread_mutex_trylock = first::trylock;
  decltype(&first::clocklock) pthread_mutex_clocklock = first::clocklock;
  decltype(&first::lock) pthread_mutex_unlock = first::unlock;
};

[[gnu::visibility("hidden")]] extern next_functions next;

// Asks the loader. Null: not found.
void* find_function(const char* name) noexcept;

// For functions without a system call, perhaps before the constructor has run.
template <class F>
F find_next(F& function, const char* name) noexcept {
  if (!function) [[unlikely]]
    function = reinterpret_cast<F>(find_function(name));
  return function;
}

}}}  // namespace hocket::hook
