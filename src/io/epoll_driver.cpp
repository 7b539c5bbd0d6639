#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/asleep.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/base/seam/own_fds.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/io/seam/descriptor_table.hpp>
#include <io/epoll_driver.hpp>
#include <io/fd_watch.hpp>
#include <io/platform/system_calls.hpp>

#include <algorithm>
#include <memory>
#include <poll.h>
#include <sys/eventfd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::uint32_t polled_every = 8;  // turns: docs/decisions/012
constexpr int batches = 8;                 // of the events of one epoll_wait(2)
constexpr std::uint64_t wake_increment = 1, ring_increment = std::uint64_t{1} << 32;

int add(int epoll, int fd, std::uint32_t events, std::uint64_t tag) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : errno;
}

class epoll_drivers final : public driver_kind_of<epoll_driver> {
 public:
  epoll_drivers() noexcept : driver_kind_of("epoll") {}

 private:
  result<std::unique_ptr<epoll_driver>> make_driver(const driver_owner&) noexcept override;
};

failure close_both(int epoll, int event_fd, int error) noexcept {
  if (epoll >= 0) ::close(epoll);
  if (event_fd >= 0) ::close(event_fd);
  return failure(std::error_code(error, std::system_category()));
}

result<std::unique_ptr<epoll_driver>> epoll_drivers::make_driver(const driver_owner& owner) noexcept {
  const int epoll = own_fd(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll < 0) return close_both(-1, -1, errno);
  const int event_fd = own_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (event_fd < 0) return close_both(epoll, -1, errno);
  if (const int error = add(epoll, event_fd, EPOLLIN, ~std::uint64_t{0})) return close_both(epoll, event_fd, error);
  std::unique_ptr<epoll_driver> created(new (std::nothrow) epoll_driver(epoll, event_fd, owner));
  if (!created) return close_both(epoll, event_fd, ENOMEM);
  return created;
}

epoll_drivers& kind() noexcept {
  static epoll_drivers drivers;
  return drivers;
}

timespec remaining_until(time_point until, time_point now) noexcept {
  const duration remaining = until <= now ? duration::zero() : std::min<duration>(until - now, std::chrono::days(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(remaining);
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(seconds.count());
  limit.tv_nsec = static_cast<long>((remaining - seconds).count());
  return limit;
}

}  // namespace

result<io_driver*> epoll_driver::driver_here() noexcept {
  const result<epoll_driver*> found = detail::driver_here(kind());
  if (!found) return failure(found.error());
  return *found;
}

result<fd_watch*> epoll_driver::watch_here() noexcept {
  const result<epoll_driver*> found = detail::driver_here(kind());
  if (!found) return failure(found.error());
  return (*found)->own_watch();
}

// Owner only.
result<fd_watch*> epoll_driver::own_watch() noexcept {
  if (fd_watch* const existing = existing_watch()) return existing;
  const int epoll = own_fd(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll < 0) return failure(std::error_code(errno, std::system_category()));
  auto* const created = new (std::nothrow) fd_watch(epoll);
  if (!created) return close_both(epoll, -1, ENOMEM);
  // ORDER: release, pairs with the load in existing_watch().
  watch_.store(created, std::memory_order_release);
  const int error = add(epoll_, epoll, EPOLLIN, watch_tag);
  if (error == 0) return created;
  // ORDER: relaxed, pairs with nothing: no event has reported the watch.
  watch_.store(nullptr, std::memory_order_relaxed);
  delete created;
  return failure(std::error_code(error, std::system_category()));
}

std::size_t epoll_driver::waiting() const noexcept {
  const fd_watch* const watch = existing_watch();
  return io_driver::waiting() + (watch ? watch->waiting() : 0);
}

bool epoll_driver::has_waits() const noexcept {
  const fd_watch* const watch = existing_watch();
  return io_driver::has_waits() || (watch && watch->waiting() != 0);
}

epoll_driver::epoll_driver(int epoll, int event_fd, const driver_owner& owner) noexcept
    : io_driver(polled_every, owner), epoll_(epoll), event_fd_(event_fd), forks_(forks_so_far()) {}

epoll_driver::~epoll_driver() {
  end_all_waits();
  delete existing_watch();
  ::close(event_fd_);
  ::close(epoll_);
}

// --- sleeping

bool epoll_driver::park(time_point until) noexcept {
  if (more_) return take_wake();  // the collected events are dispatched first
  if (until == time_point::max() && !has_pending()) {
    await_events(nullptr);
  } else {
    const bool only_polls = has_pending() || until == time_point::min();
    const timespec limit = remaining_until(until, only_polls ? until : steady_clock().now());
    await_events(&limit);
  }
  return take_wake();
}

void epoll_driver::await_events(const timespec* limit) noexcept {
  long count = 0;
  asleep([&] { count = system_calls::await_events(epoll_, events_.data(), most_events, limit); });
  collect_events(count);
}

void epoll_driver::collect_events(long count) noexcept {
  expects(count >= 0 || count == -EINTR, "an epoll descriptor of hocket cannot be waited at",
          "do not close descriptors that are not yours");
  locked guard(events_lock_);
  dispatched_ = collected_ = 0;
  for (long i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.u64 == event_fd_tag) {
      read_event_fd();
      continue;
    }
    if (collected_ != i) events_[static_cast<std::size_t>(collected_)] = event;
    ++collected_;
  }
  more_ = collected_ != 0;
}

bool epoll_driver::take_wake() noexcept { return std::exchange(woken_, false); }

void epoll_driver::read_event_fd() noexcept {
  std::uint64_t count = 0;
  if (raw_calls::read(event_fd_, &count, sizeof count) == sizeof count && count % ring_increment != 0) woken_ = true;
}

// Collects no events: the collected ones stay, and there may be no space for more.
void epoll_driver::await_wake() noexcept {
  for (read_event_fd(); !take_wake(); read_event_fd()) {
    pollfd request{event_fd_, POLLIN, 0};
    asleep([&] { raw_calls::poll(&request, 1, -1); });
  }
}

// When the write takes effect, another thread may destroy the driver. The system call keeps the file open, and the
// function uses nothing else.
static void add_to(int event_fd, std::uint64_t increment) noexcept {
  const int saved_errno = errno;
  const auto written = raw_calls::write(event_fd, &increment, sizeof increment);
  expects(written == sizeof increment, "an eventfd of hocket cannot be written",
          "do not close descriptors that are not yours");
  errno = saved_errno;
}

void epoll_driver::wake() noexcept {
  if (forks_ == forks_so_far()) add_to(event_fd_, wake_increment);
}
void epoll_driver::ring() noexcept {
  if (forks_ == forks_so_far()) add_to(event_fd_, ring_increment);
}

// --- events

int epoll_driver::start_watching(open_descriptor& record) noexcept {
  return add(epoll_, record.native_handle(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET,
             descriptor_table::tag_of(record));
}

void epoll_driver::stop_watching(open_descriptor& record) noexcept {
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, record.native_handle(), nullptr);
}

void epoll_driver::poll() noexcept {
  transfer* const pending = take_pending();
  if (!more_) collect_events(system_calls::events_of(epoll_, events_.data(), most_events));
  const auto [first, end] = next_batch();
  for (int i = first; i != end; ++i) dispatch(events_[static_cast<std::size_t>(i)]);
  serve_pending(pending);
}

// Returns the range of the events to dispatch now. After it an assistant may take the rest.
std::pair<int, int> epoll_driver::next_batch() noexcept {
  locked guard(events_lock_);
  const int first = dispatched_, size = has_asymmetric_fences() ? 1 + collected_ / batches : most_events;
  dispatched_ = std::min(collected_, first + size);
  more_ = dispatched_ != collected_;
  return {first, dispatched_};
}

void epoll_driver::assist() noexcept {
  transfer* const pending = take_pending();
  dispatch_rest();
  std::array<epoll_event, most_events> events;
  const long count = system_calls::events_of(epoll_, events.data(), most_events);
  for (long i = 0; i < count; ++i) {
    if (events[static_cast<std::size_t>(i)].data.u64 != event_fd_tag) dispatch(events[static_cast<std::size_t>(i)]);
  }
  serve_pending(pending);
}

// The system does not report these events again.
void epoll_driver::dispatch_rest() noexcept {
  if (!events_lock_.try_borrow()) return;
  std::array<epoll_event, most_events> rest;
  const int first = std::exchange(dispatched_, collected_), count = collected_ - first;
  std::copy_n(events_.begin() + first, count, rest.begin());
  events_lock_.give_back();
  for (int i = 0; i < count; ++i) dispatch(rest[static_cast<std::size_t>(i)]);
}

void epoll_driver::dispatch(const epoll_event& event) noexcept {
  if (event.data.u64 == watch_tag) [[unlikely]]
    return existing_watch()->poll();
  open_descriptor* const record = descriptor_table::find(event.data.u64);
  if (!record) return;
  constexpr std::uint32_t ended = EPOLLHUP | EPOLLERR;
  if (event.events & (EPOLLPRI | EPOLLRDHUP | ended)) record->expect_short_reads();
  if (event.events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | ended)) handle_edge(record->in);
  if (event.events & (EPOLLOUT | ended)) handle_edge(record->out);
  if (event.events & (EPOLLRDHUP | ended)) handle_edge(record->peer);
}

}}}  // namespace hocket::detail
