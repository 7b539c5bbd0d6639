#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/io/poll_fds.hpp>
#include <io/fd_watch.hpp>
#include <io/platform/system_calls.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <sys/epoll.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::grant;
using primitive::locked;
using primitive::waiter;

namespace {

// All that there are: stop_polling() asks each.
struct watches {
  primitive::thread_mutex mutex;
  list<fd_watch> all;  // guarded by mutex
};
// Never destroyed: a runtime may outlive main().
watches& every_watch() noexcept {
  static never_destroyed<watches> all;
  return *all;
}

int control(int epoll, int how, int fd, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = static_cast<std::uint64_t>(fd);
  return ::epoll_ctl(epoll, how, fd, &event) == 0 ? 0 : errno;
}

// The events of poll(2) and of epoll have the same numbers.
static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT && POLLPRI == EPOLLPRI && POLLRDHUP == EPOLLRDHUP);

short events_of(const polled_fd& one) noexcept {
  short events = 0;
  const poll_operation& of = *one.operation;
  for (std::size_t i = 0; i < of.count; ++i) {
    if (of.fds[i].fd == one.fd) events = static_cast<short>(events | of.fds[i].events);
  }
  return events;
}

}  // namespace

fd_watch::fd_watch(int epoll) noexcept : epoll_(epoll), forks_(forks_so_far()) {
  locked guard(every_watch().mutex);
  every_watch().all.push_back(*this);
}

fd_watch::~fd_watch() {
  {
    locked guard(every_watch().mutex);
    list<fd_watch>::erase(*this);
  }
  stop(all_waits);
  ::close(epoll_);
}

bool fd_watch::is_of_this_process() const noexcept { return forks_ == forks_so_far(); }

// Linked first, so that an event that comes at once finds the wait.
int fd_watch::enter(poll_operation& one, waiter& entry) noexcept {
  locked guard(mutex_);
  if (!make_room(one)) return ENOMEM;
  link_all(one, entry);
  for (std::size_t i = 0; i < one.count; ++i) {
    const int error = one.fds[i].fd < 0 ? 0 : arm(one.fds[i].fd);
    if (error == 0) continue;
    unlink_all(one);
    return error;
  }
  return 0;
}

bool fd_watch::make_room(const poll_operation& one) noexcept try {
  int most = all_waits;
  for (std::size_t i = 0; i < one.count; ++i) most = std::max(most, one.fds[i].fd);
  if (!has(most)) fds_.resize(index_of(most) + 1);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Under the mutex. For all that the waits in the fd's list want.
int fd_watch::arm(int fd) noexcept {
  fd_list& all = at(fd);
  std::uint32_t events = EPOLLONESHOT;
  for (const polled_fd* one = all.first; one; one = one->next) events |= static_cast<std::uint16_t>(events_of(*one));
  int error = control(epoll_, all.added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events);
  if (error == ENOENT) error = control(epoll_, EPOLL_CTL_ADD, fd, events);
  if (error == EEXIST) error = control(epoll_, EPOLL_CTL_MOD, fd, events);
  all.added = error == 0;
  return error;
}

void fd_watch::poll() noexcept {
  std::array<epoll_event, 32> events;
  const long got = system_calls::events_of(epoll_, events.data(), static_cast<int>(events.size()));
  for (long i = 0; i < got; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    tell(static_cast<int>(event.data.u64), static_cast<short>(event.events));
  }
}

void fd_watch::tell(int fd, short events) noexcept {
  while (std::optional<grant> won = take_ready(fd, events)) won->post();
}

void fd_watch::stop(int fd) noexcept {
  while (std::optional<grant> won = take_any(fd, ECANCELED)) won->post();
}

void fd_watch::wake(int fd) noexcept {
  while (std::optional<grant> won = take_any(fd, 0)) won->post();
}

// A wait of that number that has something to tell; if there is none, the fd is armed for the others.
std::optional<grant> fd_watch::take_ready(int fd, short events) noexcept {
  locked guard(mutex_);
  for (polled_fd* one = at(fd).first; one; one = one->next) {
    if (one->operation->test(events)) return take_out(*one);
  }
  polled_fd* const other = at(fd).first;
  const int error = other ? arm(fd) : 0;
  if (error == 0) return std::nullopt;
  other->operation->error = static_cast<std::size_t>(error);
  return take_out(*other);
}

// The wait ends with `error`, or if that is 0 with the events that poll(2) finds.
std::optional<grant> fd_watch::take_any(int fd, int error) noexcept {
  locked guard(mutex_);
  if (!has(fd) || !at(fd).first) return std::nullopt;
  polled_fd& one = *at(fd).first;
  if (error == 0) static_cast<void>(one.operation->test());
  else one.operation->error = static_cast<std::size_t>(error);
  return take_out(one);
}

// Under the mutex.
grant fd_watch::take_out(polled_fd& one) noexcept {
  waiter& entry = *one.entry;
  unlink_all(*one.operation);
  return entry.claim_popped();
}

bool fd_watch::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  auto& one = *static_cast<poll_operation*>(entry.resource);
  if (!one.at) return false;
  unlink_all(one);
  return true;
}

std::size_t fd_watch::waiting() const noexcept {
  locked guard(mutex_);
  return waiting_;
}

// Under the mutex. Negative numbers are left out.
void fd_watch::link_all(poll_operation& of, waiter& entry) noexcept {
  for (std::size_t i = 0; i <= of.count; ++i) {
    const int fd = i == of.count ? all_waits : of.fds[i].fd;
    polled_fd& one = *::new (of.listed + i) polled_fd{fd, &of, &entry, nullptr, nullptr};
    if (fd < 0 && i != of.count) continue;
    one.next = std::exchange(at(fd).first, &one);
    if (one.next) one.next->previous = &one;
  }
  of.at = this;
  ++waiting_;
}

// Under the mutex.
void fd_watch::unlink_all(poll_operation& of) noexcept {
  for (std::size_t i = 0; i <= of.count; ++i) {
    const polled_fd& one = of.listed[i];
    if (one.fd < 0 && i != of.count) continue;
    if (one.previous) one.previous->next = one.next;
    else at(one.fd).first = one.next;
    if (one.next) one.next->previous = one.previous;
  }
  of.at = nullptr;
  --waiting_;
}

namespace {

template <class F>
void for_each_watch(int fd, F f) noexcept {
  if (fd < 0) return;
  locked guard(every_watch().mutex);
  for (fd_watch& one : every_watch().all) {
    if (one.is_of_this_process()) f(one);
  }
}

}  // namespace

}}}  // namespace hocket::detail

namespace hocket { inline namespace HOCKET_ABI {

void stop_polling(int fd) noexcept {
  detail::for_each_watch(fd, [=](detail::fd_watch& one) { one.stop(fd); });
}
void detail::wake_polling(int fd) noexcept {
  for_each_watch(fd, [=](fd_watch& one) { one.wake(fd); });
}

}}  // namespace hocket
