// A small driver: coroutines wait until a descriptor can be read. It is epoll and an eventfd, takes few events at a
// time, and counts what is done to it.
//
//   auto ready = co_await readable(fd);   // on a loop or a runtime that has such a driver
//
// One wait for each descriptor. A wait has a seat while it is registered, whose number is what epoll tells. No wait
// begins between a park() and the poll() that hands on what it has collected, but waits may end: an event whose seat is
// free then is dropped.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/detail/mutex.hpp>
#include <hocket/core/detail/current.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/driver.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/runtime/descriptor_parker.hpp>

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

class readiness_driver final : public hocket::driver, public hocket::primitive::wait_source {
 public:
  static constexpr std::size_t most_events = 8;  // that are collected at once

  explicit readiness_driver(std::uint32_t turns_between_polls = 1) : driver(turns_between_polls) {
    if (epoll_ < 0 || bell_ < 0) throw std::system_error(errno, std::system_category(), "a descriptor of a driver");
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = the_bell;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, bell_, &event);
  }
  ~readiness_driver() override {
    expect_owner();
    if (waiting() != 0)
      hocket::detail::fatal("a driver was destroyed while somebody waits at it", "end the waits before");
    ::close(bell_);
    ::close(epoll_);
  }

  // --- driver

  bool park(hocket::time_point until) noexcept override {
    expect_owner();
    parks_.fetch_add(1);
    if (returns_for_no_reason > 0) return --returns_for_no_reason, take_wake();
    for (const std::size_t before = collected_;;) {
      if (take_wake()) return true;
      const hocket::time_point now = hocket::steady_clock().now();
      const int limit = collected_ - before >= returns_with ? 0 : hocket::poll_timeout(until, now);
      if (limit != 0) asleep_until_.store(until.time_since_epoch().count());
      collect(limit);
      asleep_until_.store(awake);
      if (take_wake()) return true;
      if (collected_ - before >= returns_with || until <= now) return false;
    }
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

  // --- a look at it, by any thread
  unsigned parks() const noexcept { return parks_.load(); }
  unsigned polls() const noexcept { return polls_.load(); }
  // Whether its owner sleeps in it, or is about to, until that time.
  bool sleeps_until(hocket::time_point until) const noexcept {
    return asleep_until_.load() == until.time_since_epoch().count();
  }
  bool sleeps() const noexcept { return asleep_until_.load() != awake; }
  std::size_t waiting() noexcept {
    hocket::primitive::locked guard(mutex_);
    std::size_t count = 0;
    for (const seat& one : seats_) count += one.who != nullptr;
    return count;
  }
  // For a host that watches it.
  int descriptor() const noexcept { return epoll_; }

  int returns_for_no_reason = 0;             // as many of the next parks; its owner sets it
  std::atomic<std::size_t> returns_with{1};  // so many events, from a park

  // --- the wait

  // What a wait for a descriptor is. The error: it is not one that can be waited for.
  struct reading {
    using value_type = void;
    int fd;
    int error = 0;

    bool try_now() noexcept { return false; }
    void begin(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept {
      hocket::driver* here = hocket::current_executor()->io_driver();
      if (!here) hocket::detail::fatal("a wait for a descriptor where there is no driver", "give the loop one");
      static_cast<readiness_driver*>(here)->begin(*this, wait, entry);
    }
    hocket::result<void> take() noexcept {
      if (error != 0) return hocket::failure(std::error_code(error, std::system_category()));
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
    event.data.u64 = place;
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
  void tell(std::size_t event) noexcept {
    hocket::primitive::grant told;
    {
      hocket::primitive::locked guard(mutex_);
      seat& one = seats_[event];
      if (one.who) told = one.who->claim();
      if (told) leave(one);
    }
    told.post();
  }

  bool take_wake() noexcept {
    std::uint64_t wakes = 0;
    return ::read(bell_, &wakes, sizeof wakes) == sizeof wakes;
  }
  // What is there, after `limit` milliseconds at most, behind what was collected before.
  void collect(int limit) noexcept {
    const std::size_t room = most_events - collected_;
    if (room == 0) return wait_for_bell(limit);
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

  const int epoll_ = ::epoll_create1(EPOLL_CLOEXEC), bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const std::thread::id owner_ = std::this_thread::get_id();
  std::array<epoll_event, most_events> events_{};
  std::size_t collected_ = 0;
  std::atomic<unsigned> parks_{0}, polls_{0};
  std::atomic<hocket::duration::rep> asleep_until_{awake};
  hocket::primitive::thread_mutex mutex_;
  std::array<seat, 256> seats_;
};

// One for each worker of a runtime.
class readiness_drivers final : public hocket::driver_maker {
 public:
  explicit readiness_drivers(std::uint32_t turns_between_polls = 1) : turns_(turns_between_polls) {}

  std::unique_ptr<hocket::driver> make(std::size_t worker) override {
    auto made = std::make_unique<readiness_driver>(turns_);
    if (worker != made_.size()) hocket::detail::fatal("the drivers of a runtime are made out of order", "none");
    made_.push_back(made.get());
    return made;
  }
  std::size_t count() const noexcept { return made_.size(); }
  // While the runtime is there.
  readiness_driver& operator[](std::size_t worker) const noexcept { return *made_[worker]; }

 private:
  const std::uint32_t turns_;
  std::vector<readiness_driver*> made_;
};

inline hocket::primitive::operation<readiness_driver::reading> readable(
    int fd, hocket::call_site at = hocket::this_call_site()) noexcept {
  return hocket::primitive::operation(readiness_driver::reading{fd}, at);
}

}  // namespace hocket_test
