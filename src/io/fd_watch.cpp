#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/seam/transfer_operation.hpp>
#include <io/epoll_driver.hpp>
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
using primitive::suspension;
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

// Of a wait that no watch can be made for.
class no_watch_source final : public primitive::wait_source {
 public:
  const char* what() const noexcept override { return "numbers of poll_fds()"; }
  [[nodiscard]] bool detach(waiter&) noexcept override { return false; }
  void pass_on(waiter&) noexcept override {}
};
constinit no_watch_source no_watch;

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
  const poll_operation& of = *one.of;
  for (std::size_t i = 0; i < of.count; ++i) {
    if (of.fds[i].fd == one.fd) events = static_cast<short>(events | of.fds[i].events);
  }
  return events;
}

// True: something is ready, or it fails.
bool look(poll_operation& at) noexcept {
  long found = 0;
  do found = raw_calls::poll(at.fds, at.count, 0);
  while (found < 0 && errno == EINTR);
  if (found < 0) at.error = static_cast<std::size_t>(errno);
  else at.ready = static_cast<std::size_t>(found);
  return found != 0;
}

// look(), after the system has reported `events`.
bool look(poll_operation& at, short events) noexcept {
  if (!at.untested) return look(at);
  at.fds->revents = static_cast<short>(events & (at.fds->events | POLLERR | POLLHUP));
  return at.fds->revents != 0;
}

void fail(poll_operation& what, waiter& entry, int error) noexcept {
  what.error = static_cast<std::size_t>(error);
  entry.claim_popped().post();
}

}  // namespace

// --- the operation

bool poll_operation::try_now() noexcept { return look(*this); }

void poll_operation::begin(suspension& wait, waiter& entry) noexcept {
  entry.resource = this;
  const result<fd_watch*> here = epoll_driver::watch_here();
  entry.enlist(wait, here ? static_cast<primitive::wait_source&>(**here) : no_watch);
  if (!here) return fail(*this, entry, here.error().value());
  try {
    listed = static_cast<polled_fd*>(allocate_frame((count + 1) * sizeof(polled_fd)));
  } catch (const std::bad_alloc&) {
    return fail(*this, entry, ENOMEM);
  }
  if (const int wrong = (*here)->enter(*this, entry)) fail(*this, entry, wrong);
}

result<std::size_t> poll_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(static_cast<int>(error));
  return ready;
}

void poll_operation::resumed() noexcept {
  if (listed) release_frame(std::exchange(listed, nullptr), (count + 1) * sizeof(polled_fd));
}

void readiness_operation::begin(suspension& wait, waiter& entry) noexcept {
  fds = &own;
  count = 1;
  if (own.fd >= 0) return poll_operation::begin(wait, entry);
  entry.enlist(wait, no_watch);  // a watch leaves negative numbers out, so the wait would never end
  fail(*this, entry, EBADF);
}

result<short> readiness_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(static_cast<int>(error));
  return own.revents;
}

// --- the watch

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
    if (look(*one->of, events)) return take_out(*one);
  }
  polled_fd* const other = at(fd).first;
  const int error = other ? arm(fd) : 0;
  if (error == 0) return std::nullopt;
  other->of->error = static_cast<std::size_t>(error);
  return take_out(*other);
}

// The wait ends with `error`, or if that is 0 with the events that poll(2) finds.
std::optional<grant> fd_watch::take_any(int fd, int error) noexcept {
  locked guard(mutex_);
  if (!has(fd) || !at(fd).first) return std::nullopt;
  polled_fd& one = *at(fd).first;
  if (error == 0) look(*one.of);
  else one.of->error = static_cast<std::size_t>(error);
  return take_out(one);
}

// Under the mutex.
grant fd_watch::take_out(polled_fd& one) noexcept {
  waiter& entry = *one.entry;
  unlink_all(*one.of);
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
