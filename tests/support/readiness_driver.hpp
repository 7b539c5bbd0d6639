// A small driver: coroutines wait until a descriptor can be read. It is epoll and an eventfd, takes few events at a
// time, and counts its calls.
//
//   readiness_drivers io;                      // the kind
//   auto ready = co_await readable(fd);        // by a driver of the newest kind, on a loop, a runtime or a plain
//   thread readiness_driver& one = io.on(lp);         // the driver of a loop, made if there is none
//
// One wait for each descriptor. A wait has a seat while it is registered. The data of an epoll event is the number of
// the seat and the number of its uses: between the event and its delivery the wait may end, and another wait may take
// the seat, since another thread may assist().
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/driver.hpp>
#include <hocket/core/wait/seam/operation.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/descriptor_parker.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace hocket_test {

class readiness_drivers;

class readiness_driver final : public hocket::detail::driver, public hocket::primitive::wait_source {
 public:
  static constexpr std::size_t most_events = 8;  // that are collected at once

  explicit readiness_driver(std::uint32_t turns_between_polls = 1, readiness_drivers* kind = nullptr)
      : driver(turns_between_polls), kind_(kind) {
    if (epoll_ < 0 || bell_ < 0) throw std::system_error(errno, std::system_category(), "a descriptor of a driver");
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = the_bell;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell_, &event);
  }
  ~readiness_driver() override;

  // --- driver
  bool park(hocket::time_point until) noexcept override {
    expect_owner();
    parks_.fetch_add(1);
    if (returns_for_no_reason > 0) return --returns_for_no_reason, take_wake();
    for (;;) {
      if (take_wake()) return true;
      const hocket::time_point now = hocket::steady_clock().now();
      const int limit = collected_ >= returns_with ? 0 : hocket::poll_timeout(until, now);
      if (limit != 0) asleep_until_.store(until.time_since_epoch().count());
      collect(limit);
      asleep_until_.store(awake);
      if (take_wake()) return true;
      if (collected_ >= returns_with || until <= now) return false;
    }
  }
  void await_wake() noexcept override {
    expect_owner();
    while (!take_wake()) wait_for_bell(-1);
  }
  void wake() noexcept override {
    const std::uint64_t one = 1;
    if (::write(bell_, &one, sizeof one) < 0) hocket::detail::fatal("a driver cannot be woken", "none");
  }
  void poll() noexcept override {
    expect_owner();
    polls_.fetch_add(1);
    if (collected_ == 0) collect(0);
    const std::size_t count = std::exchange(collected_, 0);
    for (std::size_t i = 0; i < count; ++i) tell(events_[i].data.u64);
  }
  void assist() noexcept override {
    assists_.fetch_add(1);
    std::array<epoll_event, most_events> events;
    const int got = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < got; ++i) {
      const std::uint64_t event = events[static_cast<std::size_t>(i)].data.u64;
      if (event != the_bell) tell(event);
    }
  }

  // --- a look at it, by any thread
  unsigned parks() const noexcept { return parks_.load(); }
  unsigned polls() const noexcept { return polls_.load(); }
  unsigned assists() const noexcept { return assists_.load(); }
  // Whether its owner sleeps in it, or is about to, until that time.
  bool sleeps_until(hocket::time_point until) const noexcept {
    return asleep_until_.load() == until.time_since_epoch().count();
  }
  bool sleeps() const noexcept { return asleep_until_.load() != awake; }
  std::size_t waiting() const noexcept override {
    hocket::primitive::locked guard(mutex_);
    std::size_t count = 0;
    for (const seat& one : seats_) count += one.who != nullptr;
    return count;
  }
  int descriptor() const noexcept override { return epoll_; }

  int returns_for_no_reason = 0;             // as many of the next parks; its owner sets it
  std::atomic<std::size_t> returns_with{1};  // so many events, from a park

  // --- the wait

  // What a wait for a descriptor is. The error: it is not one that can be waited for.
  struct reading {
    using value_type = void;
    readiness_drivers* kind;
    int fd;
    int error = 0;

    bool try_now() noexcept { return false; }
    void begin(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept;
    hocket::result<void> take() noexcept {
      if (error != 0) return hocket::failure(std::error_code(error, std::generic_category()));
      return {};
    }
  };

  const char* what() const noexcept override { return "a descriptor"; }
  bool detach(hocket::primitive::waiter& entry) noexcept override {
    hocket::primitive::locked guard(mutex_);
    for (seat& one : seats_) {
      if (one.who == &entry) return leave(one), true;
    }
    return false;
  }
  void pass_on(hocket::primitive::waiter&) noexcept override {}

 private:
  struct seat {
    hocket::primitive::waiter* who = nullptr;
    int fd = -1;
    std::uint32_t taken = 0;
  };
  static constexpr std::uint64_t the_bell = ~std::uint64_t{0};
  static constexpr hocket::duration::rep awake = -1;

  void expect_owner() const noexcept {
    if (std::this_thread::get_id() != owner_) hocket::detail::fatal("a driver was used by another thread", "none");
  }

  void begin(reading& what, hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept {
    hocket::primitive::locked guard(mutex_);
    std::size_t place = 0;
    while (place < seats_.size() && seats_[place].who) ++place;
    if (place == seats_.size())
      hocket::detail::fatal("a test waits for more descriptors than its driver has seats", "less");
    seat& free = seats_[place];
    epoll_event event{};
    event.events = EPOLLIN | EPOLLONESHOT;
    event.data.u64 = std::uint64_t{++free.taken} << 32 | place;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, what.fd, &event) != 0) {
      what.error = errno;
      static_cast<void>(wait.take_now(entry, *this));
      return;
    }
    entry.enlist(wait, *this);
    free.who = &entry;
    free.fd = what.fd;
  }
  hocket::primitive::waiter* leave(seat& one) noexcept {
    ::epoll_ctl(epoll_, EPOLL_CTL_DEL, one.fd, nullptr);
    return std::exchange(one.who, nullptr);
  }
  void tell(std::uint64_t event) noexcept {
    hocket::primitive::grant told;
    {
      hocket::primitive::locked guard(mutex_);
      seat& one = seats_[event & 0xffff'ffff];
      if (one.who && one.taken == event >> 32) told = one.who->claim();
      if (told) leave(one);
    }
    told.post();
  }

  bool take_wake() noexcept {
    std::uint64_t wakes = 0;
    return ::read(bell_, &wakes, sizeof wakes) == sizeof wakes;
  }
  // Collects the events, after at most `limit` milliseconds, behind the events that were collected before.
  void collect(int limit) noexcept {
    const std::size_t room = most_events - collected_;
    if (room == 0) return;
    const int got = ::epoll_wait(epoll_, events_.data() + collected_, static_cast<int>(room), limit);
    if (got < 0 && errno != EINTR) hocket::detail::fatal("epoll_wait failed", "none");
    for (std::size_t i = collected_, end = i + static_cast<std::size_t>(std::max(got, 0)); i < end; ++i) {
      if (events_[i].data.u64 != the_bell) events_[collected_++] = events_[i];
    }
  }

  void wait_for_bell(int limit) noexcept {
    pollfd look{bell_, POLLIN, 0};
    static_cast<void>(::poll(&look, 1, limit));
  }

  readiness_drivers* const kind_;  // null: of none
  const int epoll_ = ::epoll_create1(EPOLL_CLOEXEC), bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const std::thread::id owner_ = std::this_thread::get_id();
  std::array<epoll_event, most_events> events_{};
  std::size_t collected_ = 0;
  std::atomic<unsigned> parks_{0}, polls_{0}, assists_{0};
  std::atomic<hocket::duration::rep> asleep_until_{awake};
  mutable hocket::primitive::thread_mutex mutex_;
  std::array<seat, 256> seats_;
};

// The kind.
class readiness_drivers final : public hocket::detail::driver_kind_of<readiness_driver>,
                                public hocket::primitive::wait_source {
 public:
  explicit readiness_drivers(std::uint32_t turns_between_polls = 1)
      : driver_kind_of("readiness"), turns_(turns_between_polls) {
    newest = this;
  }

  // A task that makes a driver where it runs.
  auto ask(readiness_driver*& found) {
    return [this, &found]() -> hocket::task<> {
      found = hocket::detail::driver_here(*this).value();
      co_return;
    };
  }

  // The driver of a loop that does not run now. Runs a turn of it.
  readiness_driver& on(hocket::loop& lp) {
    readiness_driver* found = nullptr;
    hocket::spawn(lp, ask(found));
    lp.poll();
    return *found;
  }
  // Has the workers make theirs, in their order.
  readiness_drivers& on(hocket::runtime& rt) {
    for (std::size_t i = 0; i < rt.workers(); ++i) {
      readiness_driver* found = nullptr;
      hocket::detail::worker_at place(rt, i);
      hocket::sync_wait(hocket::spawn(place, ask(found)));
    }
    return *this;
  }

  // Of those that there are, in the order of their making.
  std::size_t count() const noexcept {
    hocket::primitive::locked guard(mutex_);
    return made_.size();
  }
  readiness_driver& operator[](std::size_t index) const noexcept {
    hocket::primitive::locked guard(mutex_);
    return *made_[index];
  }
  std::size_t waiting() const noexcept {
    hocket::primitive::locked guard(mutex_);
    std::size_t all = 0;
    for (const readiness_driver* one : made_) all += one->waiting();
    return all;
  }

  static inline readiness_drivers* newest = nullptr;

  std::error_code fails{};                      // the making of one, instead
  std::atomic<unsigned> creation_attempts{0};   // of drivers, with the failed ones
  const hocket::clock_source* clock = nullptr;  // which they follow; null: the machine's
  bool of_one_thread = false;

  // driver_kind
  bool follows(const hocket::clock_source& time) const noexcept override {
    return clock ? &time == clock : driver_kind::follows(time);
  }
  bool is_bound_to_a_thread() const noexcept override { return of_one_thread; }

  // Of waits that have no driver.
  const char* what() const noexcept override { return "a descriptor"; }
  bool detach(hocket::primitive::waiter&) noexcept override { return false; }
  void pass_on(hocket::primitive::waiter&) noexcept override {}

  void remove(const readiness_driver& gone) noexcept {
    hocket::primitive::locked guard(mutex_);
    std::erase(made_, &gone);
  }

 private:
  hocket::result<std::unique_ptr<readiness_driver>> make_driver(const hocket::detail::driver_owner&) noexcept override {
    ++creation_attempts;
    if (fails) return hocket::failure(fails);
    auto made = std::make_unique<readiness_driver>(turns_, this);
    hocket::primitive::locked guard(mutex_);
    made_.push_back(made.get());
    return made;
  }
  const std::uint32_t turns_;
  mutable hocket::primitive::thread_mutex mutex_;
  std::vector<readiness_driver*> made_;
};

inline readiness_driver::~readiness_driver() {
  expect_owner();
  if (waiting() != 0)
    hocket::detail::fatal("a driver was destroyed while somebody waits at it", "end the waits before");
  if (kind_) kind_->remove(*this);
  ::close(bell_);
  ::close(epoll_);
}

inline void readiness_driver::reading::begin(hocket::primitive::suspension& wait,
                                             hocket::primitive::waiter& entry) noexcept {
  const hocket::result<readiness_driver*> here = hocket::detail::driver_here(*kind);
  if (here) return (*here)->begin(*this, wait, entry);
  error = here.error().value();
  static_cast<void>(wait.take_now(entry, *kind));
}

inline hocket::primitive::operation<readiness_driver::reading> readable(
    readiness_drivers& kind, int fd, hocket::call_site at = hocket::this_call_site()) noexcept {
  return hocket::primitive::operation(readiness_driver::reading{&kind, fd}, at);
}
inline hocket::primitive::operation<readiness_driver::reading> readable(
    int fd, hocket::call_site at = hocket::this_call_site()) noexcept {
  return readable(*readiness_drivers::newest, fd, at);
}

}  // namespace hocket_test
