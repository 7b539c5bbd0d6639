// poll, ppoll, select, pselect.
//
// The set is polled without blocking. If nothing is ready, the fiber awaits poll_fds(), which polls again at each
// event. A signal mask is not installed: it would affect the other coroutines of the thread.
//
// If the wait is ended, or cannot begin, then each connected stream socket of the set is marked and reported with the
// events that the caller asked for and POLLERR. The client library then makes its transfer, which fails with
// ECONNABORTED (marked_sockets.hpp). Rejected: to fail with ECANCELED, because libpq calls its connection idle after
// that; to return 0, because callers take it for their own time-out and poll again, for ever. A set without a
// connected stream socket fails with ECANCELED.
// A marked socket is ready in every poll, also of other fibers and with a time of 0: a library that polls first would
// wait for an answer that is refused anyway. A poll that waited before the mark is woken by it.
#include "polls.hpp"

#include <hocket/core/frame_memory.hpp>

#include "caller.hpp"
#include "checked_room.hpp"
#include "next.hpp"
#include "times.hpp"
#include "watched_fds.hpp"

#include <algorithm>
#include <new>
#include <sys/resource.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

namespace {

// Memory for a set. Not on the fiber's stack, which may be copied away while the fiber waits.
class poll_set {
 public:
  explicit poll_set(nfds_t count) noexcept : count_(count) {
    try {
      all_ = static_cast<pollfd*>(hocket::detail::allocate_frame(bytes()));
    } catch (const std::bad_alloc&) {
      count_ = 0;
    }
  }
  poll_set(const poll_set&) = delete;
  poll_set& operator=(const poll_set&) = delete;
  ~poll_set() {
    if (all_) hocket::detail::release_frame(all_, bytes());
  }
  explicit operator bool() const noexcept { return all_ != nullptr; }
  pollfd* data() const noexcept { return all_; }
  std::span<pollfd> fds() const noexcept { return {all_, count_}; }

 private:
  std::size_t bytes() const noexcept { return std::max<std::size_t>(1, count_) * sizeof(pollfd); }

  nfds_t count_;
  pollfd* all_ = nullptr;
};

// The error of an ended wait at a set without a connection. A lack of memory is reported as such.
int end_without_socket() noexcept { return errno == ENOMEM ? -1 : fail<int>(ECANCELED); }

// The result of poll() after the fiber was ended, or because it must not wait. The first poll(2) finds a bad address.
// Numbers that were closed after `begin` belong to other files.
int end_poll(pollfd* all, nfds_t count, close_count begin) noexcept {
  const int error = errno;
  if (raw::poll(all, count, 0) < 0) return -1;
  int sockets = 0;
  for (pollfd& pfd : std::span(all, count)) {
    const bool marked = pfd.fd >= 0 && mark_if_connected(pfd.fd, begin);
    pfd.revents = marked ? static_cast<short>(pfd.events | POLLERR) : short{0};
    sockets += marked;
  }
  errno = error;
  return sockets != 0 ? sockets : end_without_socket();
}

// Adds the marked sockets to the `ready` ones of a set, with the events that end_poll() reports.
int add_marked(pollfd* all, nfds_t count, int ready) noexcept {
  if (!has_marks()) return ready;
  for (pollfd& pfd : std::span(all, count)) {
    if (pfd.fd < 0 || !is_marked(pfd.fd)) continue;
    ready += pfd.revents == 0;
    pfd.revents = static_cast<short>(pfd.events | POLLERR);
  }
  return ready;
}

int poll_now(pollfd* all, nfds_t count) noexcept {
  const int ready = raw::poll(all, count, 0);
  return ready < 0 ? ready : add_marked(all, count, ready);
}

// The result of a wait that has found events.
int copy_events(const poll_set& from, pollfd* all, nfds_t count) noexcept {
  std::copy_n(from.data(), count, all);
  const auto ready = std::count_if(all, all + count, [](const pollfd& pfd) { return pfd.revents != 0; });
  return add_marked(all, count, static_cast<int>(ready));
}

}  // namespace

int poll_until(pollfd* all, nfds_t count, time_point limit) noexcept {
  if (!may_begin()) return end_poll(all, count, last_close());
  const close_count begin = last_close();
  const int ready = poll_now(all, count);
  if (ready != 0 || limit <= now()) return ready;
  if (only_tries()) return end_poll(all, count, begin);  // a signal handler must not allocate
  poll_set set(count);
  if (!set) {
    errno = ENOMEM;
    return end_poll(all, count, begin);
  }
  std::copy_n(all, count, set.data());
  for (;;) {
    const wait_result end = wait_for(set.fds(), limit);
    if (end == wait_result::late) return 0;
    if (end == wait_result::ended) return end_poll(all, count, begin);
    if (end == wait_result::failed) return -1;
    if (const int found = copy_events(set, all, count); found != 0) return found;  // 0: retry() has woken the wait
  }
}

namespace {

// The three sets of select(2) as one set of poll(2).
class select_set {
 public:
  select_set(int end, fd_set* in, fd_set* out, fd_set* other) noexcept
      : in_(in), out_(out), other_(other), set_(static_cast<nfds_t>(end)) {
    for (int fd = 0; set_ && fd != end; ++fd) {
      const short events = static_cast<short>(has(in, fd, POLLIN) | has(out, fd, POLLOUT) | has(other, fd, POLLPRI));
      if (events != 0) set_.data()[count_++] = {fd, events, 0};
    }
  }
  bool is_whole() const noexcept { return static_cast<bool>(set_); }
  int wait(time_point limit) noexcept { return poll_until(set_.data(), count_, limit); }
  wait_result pause(time_point limit) noexcept {
    const watched_fds watched({set_.data(), count_});
    return wait_until(limit);
  }

  // Returns how many bits will be set. If an fd is closed: EBADF, and the sets stay unchanged.
  int bits() noexcept {
    const std::span<pollfd> all(set_.data(), count_);
    if (std::ranges::any_of(all, [](const pollfd& pfd) { return (pfd.revents & POLLNVAL) != 0; }))
      return fail<int>(EBADF);
    int count = 0;
    for (const pollfd& pfd : all) count += has(pfd, POLLIN) + has(pfd, POLLOUT) + has(pfd, POLLPRI);
    return count;
  }
  int write_back() noexcept {
    for (const pollfd& pfd : std::span(set_.data(), count_)) {
      clear_unless_ready(in_, pfd, POLLIN);
      clear_unless_ready(out_, pfd, POLLOUT);
      clear_unless_ready(other_, pfd, POLLPRI);
    }
    return bits();
  }

 private:
  static short has(const fd_set* set, int fd, short event) noexcept {
    return set && FD_ISSET(fd, set) ? event : short{0};
  }
  // Whether the event was asked for and has occurred. An error counts as readable and writable.
  static int has(const pollfd& pfd, short event) noexcept {
    const short reported = event == POLLIN    ? POLLIN | POLLHUP | POLLERR
                           : event == POLLOUT ? POLLOUT | POLLERR
                                              : POLLPRI;
    return (pfd.events & event) != 0 && (pfd.revents & reported) != 0;
  }
  static void clear_unless_ready(fd_set* set, const pollfd& pfd, short event) noexcept {
    if (set && (pfd.events & event) != 0 && !has(pfd, event)) FD_CLR(pfd.fd, set);
  }

  fd_set* const in_;
  fd_set* const out_;
  fd_set* const other_;
  poll_set set_;
  nfds_t count_ = 0;
};

// The system ignores numbers above the limit of open files.
int clamped(int end) noexcept {
  rlimit most{};
  if (end <= FD_SETSIZE || ::getrlimit(RLIMIT_NOFILE, &most) != 0) return end;
  return static_cast<int>(std::min<rlim_t>(most.rlim_cur, static_cast<rlim_t>(end)));
}

// The three sets of select(2) in place, where there is no memory for a select_set: in a signal handler, for example.
struct fd_sets {
  fd_set* in;
  fd_set* out;
  fd_set* other;

  static bool contains(const fd_set* set, int fd) noexcept { return set && FD_ISSET(fd, set); }
  static void clear(fd_set* set, int fd) noexcept {
    if (set) FD_CLR(fd, set);
  }
  int bits(int fd) const noexcept { return contains(in, fd) + contains(out, fd) + contains(other, fd); }
  short events(int fd) const noexcept {
    return static_cast<short>((contains(in, fd) ? POLLIN : 0) | (contains(out, fd) ? POLLOUT : 0) |
                              (contains(other, fd) ? POLLPRI : 0));
  }
  void clear(int fd) const noexcept {
    clear(in, fd);
    clear(out, fd);
    clear(other, fd);
  }
};

// As end_poll(): the bits of the marked sockets stay. If there is none, the sets stay as they are.
int end_select(const fd_sets& sets, int end, close_count begin) noexcept {
  int bits = 0;
  for (int fd = 0; fd < end; ++fd)
    if (sets.bits(fd) != 0 && mark_if_connected(fd, begin)) bits += sets.bits(fd);
  if (bits == 0) return end_without_socket();
  for (int fd = 0; fd < end; ++fd)
    if (sets.bits(fd) != 0 && !is_marked(fd)) sets.clear(fd);
  return bits;
}

// Each number by itself: there is no memory for a set, and select(2) would change the caller's.
bool is_any_ready(const fd_sets& sets, int end) noexcept {
  for (int fd = 0; fd < end; ++fd) {
    pollfd pfd{fd, sets.events(fd), 0};
    if (pfd.events != 0 && raw::poll(&pfd, 1, 0) != 0) return true;
  }
  return false;
}

bool is_any_marked(const fd_sets& sets, int end) noexcept {
  for (int fd = 0; has_marks() && fd < end; ++fd)
    if (sets.bits(fd) != 0 && is_marked(fd)) return true;
  return false;
}

// For a caller that must not wait, or cannot: then `error` says why.
int select_now(const fd_sets& sets, int end, time_point limit, int error) noexcept {
  if (limit > now() && (is_any_marked(sets, end) || !is_any_ready(sets, end))) {
    errno = error;
    return end_select(sets, end, last_close());
  }
  timeval none{};
  return raw::select(end, sets.in, sets.out, sets.other, &none);
}

int select_without_memory(const fd_sets& sets, int end, time_point limit) noexcept {
  return may_begin() ? select_now(sets, end, limit, ENOMEM) : end_select(sets, end, last_close());
}

// If poll(2) reports only events that the sets do not ask for, the sets are polled again by a timer.
int select_until(int end, fd_set* in, fd_set* out, fd_set* other, time_point limit) noexcept {
  if (end < 0) return fail<int>(EINVAL);
  if (only_tries()) return select_now({in, out, other}, clamped(end), limit, ECANCELED);
  select_set sets(clamped(end), in, out, other);
  if (!sets.is_whole()) return select_without_memory({in, out, other}, clamped(end), limit);
  const close_count begin = last_close();
  for (growing_pause pause;;) {
    const int ready = sets.wait(limit);
    if (ready < 0) return ready;
    const int bits = sets.bits();
    if (ready == 0 || bits != 0) return bits < 0 ? bits : sets.write_back();
    if (now() >= limit) return sets.write_back();
    if (sets.pause(std::min(limit, pause.end())) != wait_result::ready)
      return end_select({in, out, other}, clamped(end), begin);
  }
}

// As in Linux, `time` becomes the time left.
int select_for(int end, fd_set* in, fd_set* out, fd_set* other, timeval& time) noexcept {
  if (time.tv_sec < 0 || time.tv_usec < 0) return fail<int>(EINVAL);
  const time_point limit = after(duration_of(time));
  const int ready = select_until(end, in, out, other, limit);
  const timespec remaining = timespec_of(std::max<duration>(duration::zero(), limit - now()));
  time = {remaining.tv_sec, remaining.tv_nsec / 1000};
  return ready;
}

bool is_invalid(const timespec* limit) noexcept {
  if (!limit || is_valid(*limit)) return false;
  errno = EINVAL;
  return true;
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int poll(pollfd* all, nfds_t count, int milliseconds) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.poll(all, count, milliseconds);
  return hook::quietly([&] { return hook::poll_until(all, count, hook::after_milliseconds(milliseconds)); });
}
int __poll_chk(pollfd* all, nfds_t count, int milliseconds, size_t capacity) {
  hook::expect_room(count * sizeof *all, capacity);
  return poll(all, count, milliseconds);
}
int ppoll(pollfd* all, nfds_t count, const timespec* limit, const sigset_t* mask) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.ppoll(all, count, limit, mask);
  return hook::is_invalid(limit) ? -1 : hook::quietly([&] { return hook::poll_until(all, count, hook::after(limit)); });
}
int __ppoll_chk(pollfd* all, nfds_t count, const timespec* limit, const sigset_t* mask, size_t capacity) {
  hook::expect_room(count * sizeof *all, capacity);
  return ppoll(all, count, limit, mask);
}
int select(int end, fd_set* in, fd_set* out, fd_set* other, timeval* limit) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.select(end, in, out, other, limit);
  return hook::quietly([&] {
    return limit ? hook::select_for(end, in, out, other, *limit)
                 : hook::select_until(end, in, out, other, hocket::time_point::max());
  });
}
int pselect(int end, fd_set* in, fd_set* out, fd_set* other, const timespec* limit, const sigset_t* mask) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.pselect(end, in, out, other, limit, mask);
  return hook::is_invalid(limit)
             ? -1
             : hook::quietly([&] { return hook::select_until(end, in, out, other, hook::after(limit)); });
}

}  // extern "C"
