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
constexpr int shares = 8;                  // of the events of one epoll_wait(2)
constexpr std::uint64_t one_wake = 1, one_ring = std::uint64_t{1} << 32;

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

failure close_both(int epoll, int bell, int error) noexcept {
  if (epoll >= 0) ::close(epoll);
  if (bell >= 0) ::close(bell);
  return failure(std::error_code(error, std::system_category()));
}

result<std::unique_ptr<epoll_driver>> epoll_drivers::make_driver(const driver_owner& owner) noexcept {
  const int epoll = own_fd(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll < 0) return close_both(-1, -1, errno);
  const int bell = own_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (bell < 0) return close_both(epoll, -1, errno);
  if (const int error = add(epoll, bell, EPOLLIN, ~std::uint64_t{0})) return close_both(epoll, bell, error);
  std::unique_ptr<epoll_driver> made(new (std::nothrow) epoll_driver(epoll, bell, owner));
  if (!made) return close_both(epoll, bell, ENOMEM);
  return made;
}

epoll_drivers& kind() noexcept {
  static epoll_drivers one;
  return one;
}

timespec left_until(time_point until, time_point now) noexcept {
  const duration left = until <= now ? duration::zero() : std::min<duration>(until - now, std::chrono::days(1));
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(whole.count());
  limit.tv_nsec = static_cast<long>((left - whole).count());
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
  return (*found)->fds();
}

// By the owner.
result<fd_watch*> epoll_driver::fds() noexcept {
  if (fd_watch* const made = made_watch()) return made;
  const int epoll = own_fd(::epoll_create1(EPOLL_CLOEXEC));
  if (epoll < 0) return failure(std::error_code(errno, std::system_category()));
  auto* const made = new (std::nothrow) fd_watch(epoll);
  if (!made) return close_both(epoll, -1, ENOMEM);
  // ORDER: release, pairs with the load in made_watch(): see there.
  watch_.store(made, std::memory_order_release);
  const int error = add(epoll_, epoll, EPOLLIN, the_fds);
  if (error == 0) return made;
  // ORDER: relaxed, pairs with nothing: no event has told of it.
  watch_.store(nullptr, std::memory_order_relaxed);
  delete made;
  return failure(std::error_code(error, std::system_category()));
}

std::size_t epoll_driver::waiting() const noexcept {
  const fd_watch* const fds = made_watch();
  return io_driver::waiting() + (fds ? fds->waiting() : 0);
}

bool epoll_driver::has_waits() const noexcept {
  const fd_watch* const fds = made_watch();
  return io_driver::has_waits() || (fds && fds->waiting() != 0);
}

epoll_driver::epoll_driver(int epoll, int bell, const driver_owner& owner) noexcept
    : io_driver(polled_every, owner), epoll_(epoll), bell_(bell), forks_(forks_so_far()) {}

epoll_driver::~epoll_driver() {
  end_all_waits();
  delete made_watch();
  ::close(bell_);
  ::close(epoll_);
}

// --- sleeping

bool epoll_driver::park(time_point until) noexcept {
  if (more_) return take_wake();  // the rest is told first
  if (until == time_point::max() && !has_pending()) {
    collect(nullptr);
  } else {
    const bool looks = has_pending() || until == time_point::min();
    const timespec limit = left_until(until, looks ? until : steady_clock().now());
    collect(&limit);
  }
  return take_wake();
}

void epoll_driver::collect(const timespec* limit) noexcept {
  long got = 0;
  asleep([&] { got = system_calls::await_events(epoll_, events_.data(), most_events, limit); });
  take_in(got);
}

void epoll_driver::take_in(long got) noexcept {
  expects(got >= 0 || got == -EINTR, "an epoll descriptor of hocket cannot be waited at",
          "do not close descriptors that are not yours");
  locked guard(rest_);
  told_ = collected_ = 0;
  for (long i = 0; i < got; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.u64 == the_bell) {
      read_bell();
      continue;
    }
    if (collected_ != i) events_[static_cast<std::size_t>(collected_)] = event;
    ++collected_;
  }
  more_ = collected_ != 0;
}

bool epoll_driver::take_wake() noexcept { return std::exchange(woken_, false); }

void epoll_driver::read_bell() noexcept {
  std::uint64_t told = 0;
  if (raw_calls::read(bell_, &told, sizeof told) == sizeof told && told % one_ring != 0) woken_ = true;
}

// What is collected stays, and more need not fit.
void epoll_driver::await_wake() noexcept {
  for (read_bell(); !take_wake(); read_bell()) {
    pollfd one{bell_, POLLIN, 0};
    asleep([&] { raw_calls::poll(&one, 1, -1); });
  }
}

// As soon as the write has its effect this may be destroyed: the system call keeps the file, and nothing else is used.
static void add_to(int bell, std::uint64_t what) noexcept {
  const int kept = errno;
  const auto written = raw_calls::write(bell, &what, sizeof what);
  expects(written == sizeof what, "an eventfd of hocket cannot be written",
          "do not close descriptors that are not yours");
  errno = kept;
}

void epoll_driver::wake() noexcept {
  if (forks_ == forks_so_far()) add_to(bell_, one_wake);
}
void epoll_driver::ring() noexcept {
  if (forks_ == forks_so_far()) add_to(bell_, one_ring);
}

// --- events

int epoll_driver::start_watching(open_descriptor& one) noexcept {
  return add(epoll_, one.native_handle(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET,
             descriptor_table::tag_of(one));
}

void epoll_driver::stop_watching(open_descriptor& one) noexcept {
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, one.native_handle(), nullptr);
}

void epoll_driver::poll() noexcept {
  transfer* const pending = take_pending();
  if (!more_) take_in(system_calls::events_of(epoll_, events_.data(), most_events));
  const auto [first, end] = take_share();
  for (int i = first; i != end; ++i) tell_of(events_[static_cast<std::size_t>(i)]);
  go_on_with(pending);
}

// The events to tell now. The rest may be an assistant's from then on.
std::pair<int, int> epoll_driver::take_share() noexcept {
  locked guard(rest_);
  const int first = told_, share = has_asymmetric_fences() ? 1 + collected_ / shares : most_events;
  told_ = std::min(collected_, first + share);
  more_ = told_ != collected_;
  return {first, told_};
}

void epoll_driver::assist() noexcept {
  transfer* const pending = take_pending();
  assist_with_rest();
  std::array<epoll_event, most_events> events;
  const long got = system_calls::events_of(epoll_, events.data(), most_events);
  for (long i = 0; i < got; ++i) {
    if (events[static_cast<std::size_t>(i)].data.u64 != the_bell) tell_of(events[static_cast<std::size_t>(i)]);
  }
  go_on_with(pending);
}

// The system tells those events no more.
void epoll_driver::assist_with_rest() noexcept {
  if (!rest_.try_borrow()) return;
  std::array<epoll_event, most_events> rest;
  const int first = std::exchange(told_, collected_), count = collected_ - first;
  std::copy_n(events_.begin() + first, count, rest.begin());
  rest_.give_back();
  for (int i = 0; i < count; ++i) tell_of(rest[static_cast<std::size_t>(i)]);
}

void epoll_driver::tell_of(const epoll_event& event) noexcept {
  if (event.data.u64 == the_fds) [[unlikely]]
    return made_watch()->poll();
  open_descriptor* const one = descriptor_table::find(event.data.u64);
  if (!one) return;
  constexpr std::uint32_t gone = EPOLLHUP | EPOLLERR;
  if (event.events & (EPOLLPRI | EPOLLRDHUP | gone)) one->expect_short_reads();
  if (event.events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | gone)) tell(one->in);
  if (event.events & (EPOLLOUT | gone)) tell(one->out);
  if (event.events & (EPOLLRDHUP | gone)) tell(one->peer);
}

}}}  // namespace hocket::detail
