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

// All watches of the process, for stop_polling().
struct watch_registry {
  primitive::thread_mutex mutex;
  list<fd_watch> watches;  // guarded by mutex
};
// Never destroyed: a runtime may outlive main().
watch_registry& global_registry() noexcept {
  static never_destroyed<watch_registry> instance;
  return *instance;
}

int control(int epoll, int operation, int fd, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = static_cast<std::uint64_t>(fd);
  return ::epoll_ctl(epoll, operation, fd, &event) == 0 ? 0 : errno;
}

// The events of poll(2) and of epoll have the same numbers.
static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT && POLLPRI == EPOLLPRI && POLLRDHUP == EPOLLRDHUP);

// The events that the wait of this node needs.
short events_of(const polled_fd& node) noexcept {
  short events = 0;
  const poll_operation& operation = *node.operation;
  for (std::size_t i = 0; i < operation.count; ++i) {
    if (operation.fds[i].fd == node.fd) events = static_cast<short>(events | operation.fds[i].events);
  }
  return events;
}

}  // namespace

fd_watch::fd_watch(int epoll) noexcept : epoll_(epoll), forks_(forks_so_far()) {
  locked guard(global_registry().mutex);
  global_registry().watches.push_back(*this);
}

fd_watch::~fd_watch() {
  {
    locked guard(global_registry().mutex);
    list<fd_watch>::erase(*this);
  }
  stop(all_waits);
  ::close(epoll_);
}

bool fd_watch::is_of_this_process() const noexcept { return forks_ == forks_so_far(); }

// Links the wait before it arms the fds, so that an immediate event finds the wait.
int fd_watch::add_wait(poll_operation& operation, waiter& entry) noexcept {
  locked guard(mutex_);
  if (!reserve_lists(operation)) return ENOMEM;
  link_all(operation, entry);
  for (std::size_t i = 0; i < operation.count; ++i) {
    const int error = operation.fds[i].fd < 0 ? 0 : arm(operation.fds[i].fd);
    if (error == 0) continue;
    unlink_all(operation);
    return error;
  }
  return 0;
}

bool fd_watch::reserve_lists(const poll_operation& operation) noexcept try {
  int max_fd = all_waits;
  for (std::size_t i = 0; i < operation.count; ++i) max_fd = std::max(max_fd, operation.fds[i].fd);
  if (!has_list(max_fd)) fds_.resize(index_of(max_fd) + 1);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Under the mutex. Arms the fd for the events of all waits in its list.
int fd_watch::arm(int fd) noexcept {
  fd_list& waits = list_of(fd);
  std::uint32_t events = EPOLLONESHOT;
  for (const polled_fd* node = waits.first; node; node = node->next)
    events |= static_cast<std::uint16_t>(events_of(*node));
  int error = control(epoll_, waits.is_registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events);
  if (error == ENOENT) error = control(epoll_, EPOLL_CTL_ADD, fd, events);
  if (error == EEXIST) error = control(epoll_, EPOLL_CTL_MOD, fd, events);
  waits.is_registered = error == 0;
  return error;
}

void fd_watch::poll() noexcept {
  std::array<epoll_event, 32> events;
  const long count = system_calls::events_of(epoll_, events.data(), static_cast<int>(events.size()));
  for (long i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    dispatch(static_cast<int>(event.data.u64), static_cast<short>(event.events));
  }
}

void fd_watch::dispatch(int fd, short events) noexcept {
  while (std::optional<grant> won = take_ready(fd, events)) won->post();
}

void fd_watch::stop(int fd) noexcept {
  while (std::optional<grant> won = take_first(fd, ECANCELED)) won->post();
}

void fd_watch::wake(int fd) noexcept {
  while (std::optional<grant> won = take_first(fd, 0)) won->post();
}

// Ends one wait of the fd that accepts the events. If there is none, arms the fd again for the remaining waits.
std::optional<grant> fd_watch::take_ready(int fd, short events) noexcept {
  locked guard(mutex_);
  for (polled_fd* node = list_of(fd).first; node; node = node->next) {
    if (node->operation->accept_events(events)) return end_wait(*node);
  }
  polled_fd* const other = list_of(fd).first;
  const int error = other ? arm(fd) : 0;
  if (error == 0) return std::nullopt;
  other->operation->error = static_cast<std::size_t>(error);
  return end_wait(*other);
}

// Ends the first wait of the fd: with `error`, or if that is 0, with the events that poll(2) finds.
std::optional<grant> fd_watch::take_first(int fd, int error) noexcept {
  locked guard(mutex_);
  if (!has_list(fd) || !list_of(fd).first) return std::nullopt;
  polled_fd& node = *list_of(fd).first;
  if (error == 0) static_cast<void>(node.operation->poll());
  else node.operation->error = static_cast<std::size_t>(error);
  return end_wait(node);
}

// Under the mutex.
grant fd_watch::end_wait(polled_fd& node) noexcept {
  waiter& entry = *node.entry;
  unlink_all(*node.operation);
  return entry.claim_popped();
}

bool fd_watch::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  auto& operation = *static_cast<poll_operation*>(entry.resource);
  if (!operation.watch) return false;
  unlink_all(operation);
  return true;
}

std::size_t fd_watch::waiting() const noexcept {
  locked guard(mutex_);
  return waiting_;
}

// Under the mutex. Skips negative fds.
void fd_watch::link_all(poll_operation& operation, waiter& entry) noexcept {
  for (std::size_t i = 0; i <= operation.count; ++i) {
    const int fd = i == operation.count ? all_waits : operation.fds[i].fd;
    polled_fd& node = *::new (operation.nodes + i) polled_fd{fd, &operation, &entry, nullptr, nullptr};
    if (fd < 0 && i != operation.count) continue;
    node.next = std::exchange(list_of(fd).first, &node);
    if (node.next) node.next->previous = &node;
  }
  operation.watch = this;
  ++waiting_;
}

// Under the mutex.
void fd_watch::unlink_all(poll_operation& operation) noexcept {
  for (std::size_t i = 0; i <= operation.count; ++i) {
    const polled_fd& node = operation.nodes[i];
    if (node.fd < 0 && i != operation.count) continue;
    if (node.previous) node.previous->next = node.next;
    else list_of(node.fd).first = node.next;
    if (node.next) node.next->previous = node.previous;
  }
  operation.watch = nullptr;
  --waiting_;
}

namespace {

template <class F>
void for_each_watch(int fd, F f) noexcept {
  if (fd < 0) return;
  locked guard(global_registry().mutex);
  for (fd_watch& watch : global_registry().watches) {
    if (watch.is_of_this_process()) f(watch);
  }
}

}  // namespace

}}}  // namespace hocket::detail

namespace hocket { inline namespace HOCKET_ABI {

void stop_polling(int fd) noexcept {
  detail::for_each_watch(fd, [=](detail::fd_watch& watch) { watch.stop(fd); });
}
void detail::wake_polling(int fd) noexcept {
  for_each_watch(fd, [=](fd_watch& watch) { watch.wake(fd); });
}

}}  // namespace hocket
