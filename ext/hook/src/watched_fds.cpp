#include "watched_fds.hpp"

#include <hocket/base/seam/atomic.hpp>
#include <hocket/io/poll_fds.hpp>

#include "signal_scope.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {
namespace {

constexpr std::size_t counters = 4096;
constinit std::array<primitive::atomic<std::uint32_t>, counters> waits{};
constinit primitive::atomic<close_count> close_counter{0};
constinit std::array<primitive::atomic<std::uint64_t>, counters> closes{};
constexpr int number_bits = 24;
constinit primitive::atomic<int> highest{-1};
constinit primitive::atomic<pid_t> process{0};  // which counts; 0: before constructors run

primitive::atomic<std::uint32_t>& waits_near(int fd) noexcept { return waits[static_cast<std::size_t>(fd) % counters]; }

void add(int fd) noexcept {
  if (fd < 0) return;
  // ORDER: relaxed, pairs with nothing: see the race in the header.
  waits_near(fd).fetch_add(1, std::memory_order_relaxed);
  int current = highest.load(std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  while (current < fd && !highest.compare_exchange_weak(current, fd, std::memory_order_relaxed)) {
  }
}

void subtract(int fd) noexcept {
  // ORDER: relaxed, as above.
  if (fd >= 0) waits_near(fd).fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

watched_fd::watched_fd(int fd) noexcept : fd_(fd) { add(fd); }
watched_fd::~watched_fd() { subtract(fd_); }

watched_fds::watched_fds(std::span<const pollfd> all) noexcept : all_(all) {
  for (const pollfd& pfd : all) add(pfd.fd);
}
watched_fds::~watched_fds() {
  for (const pollfd& pfd : all_) subtract(pfd.fd);
}

namespace {

bool has_waits_near(int fd) noexcept {
  // ORDER: relaxed, pairs with nothing: see the race in the header.
  return fd >= 0 && waits_near(fd).load(std::memory_order_relaxed) != 0;
}

primitive::atomic<std::uint64_t>& close_near(int fd) noexcept {
  return closes[static_cast<std::size_t>(fd) % counters];
}

void record_close(int fd) noexcept {
  // ORDER: relaxed, pairs with the load in last_close(): the fiber of that load is watched before, in add().
  const close_count count = close_counter.fetch_add(1, std::memory_order_relaxed) + 1;
  // ORDER: release, pairs with the load in was_closed_after(). Between both are the system calls that close the number,
  // use it again, and ask the new socket for its cookie.
  close_near(fd).store(count << number_bits | static_cast<unsigned>(fd), std::memory_order_release);
}

bool is_own_process() noexcept {
  // ORDER: relaxed, pairs with the store in set_process(), by a constructor or by the only thread of a child.
  const pid_t counting = process.load(std::memory_order_relaxed);
  return counting == 0 || counting == static_cast<pid_t>(::syscall(SYS_getpid));
}

// Whether this code may wake fibers.
bool may_wake() noexcept { return !in_signal_handler() && is_own_process(); }

}  // namespace

// ORDER: relaxed, pairs with the addition in record_close(), see there.
close_count last_close() noexcept { return close_counter.load(std::memory_order_relaxed); }

bool was_closed_after(int fd, close_count begin) noexcept {
  if (fd < 0 || fd >> number_bits != 0) return false;
  // ORDER: acquire, pairs with the store in record_close(), see there.
  const std::uint64_t last = close_near(fd).load(std::memory_order_acquire);
  return last >> number_bits > begin && (last & ((1u << number_bits) - 1)) == static_cast<unsigned>(fd);
}

void forget(int fd) noexcept {
  if (!has_waits_near(fd)) return;
  if (fd >> number_bits == 0) record_close(fd);
  if (!may_wake()) return;
  const int error_before = errno;
  stop_polling(fd);
  errno = error_before;
}

void retry(int fd) noexcept {
  if (!has_waits_near(fd) || !may_wake()) return;
  const int error_before = errno;
  hocket::detail::wake_polling(fd);
  errno = error_before;
}

// ORDER: relaxed, pairs with the load in is_own_process().
void set_process() noexcept { process.store(::getpid(), std::memory_order_relaxed); }

void forget_all_in_child() noexcept {
  set_process();
  // ORDER: relaxed, pairs with nothing: the child has one thread.
  for (auto& counter : waits) counter.store(0, std::memory_order_relaxed);
  highest.store(-1, std::memory_order_relaxed);
}

void forget(unsigned first, unsigned last) noexcept {
  // ORDER: relaxed, as above.
  const int most = highest.load(std::memory_order_relaxed);
  if (most < 0) return;
  const unsigned end = std::min(last, static_cast<unsigned>(most));
  for (unsigned fd = first; fd <= end; ++fd) forget(static_cast<int>(fd));
}

}}}  // namespace hocket::hook
