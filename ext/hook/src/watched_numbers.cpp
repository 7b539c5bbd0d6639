#include "watched_numbers.hpp"

#include <hocket/base/detail/atomic.hpp>
#include <hocket/io/poll_numbers.hpp>

#include "signal_scope.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {
namespace {

constexpr std::size_t counters = 4096;
constinit std::array<primitive::atomic<std::uint32_t>, counters> waits{};
constinit primitive::atomic<int> highest{-1};

primitive::atomic<std::uint32_t>& waits_near(int number) noexcept {
  return waits[static_cast<std::size_t>(number) % counters];
}

void add(int number) noexcept {
  if (number < 0) return;
  // ORDER: relaxed, pairs with nothing: see the race in the header.
  waits_near(number).fetch_add(1, std::memory_order_relaxed);
  int seen = highest.load(std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  while (seen < number && !highest.compare_exchange_weak(seen, number, std::memory_order_relaxed)) {
  }
}

void take_away(int number) noexcept {
  // ORDER: relaxed, as above.
  if (number >= 0) waits_near(number).fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

watched_number::watched_number(int number) noexcept : number_(number) { add(number); }
watched_number::~watched_number() { take_away(number_); }

watched_numbers::watched_numbers(std::span<const pollfd> all) noexcept : all_(all) {
  for (const pollfd& one : all) add(one.fd);
}
watched_numbers::~watched_numbers() {
  for (const pollfd& one : all_) take_away(one.fd);
}

namespace {

// Whether a fiber may wait for it, and this code may wake it.
bool is_waited_for(int number) noexcept {
  // ORDER: relaxed, as above.
  return number >= 0 && waits_near(number).load(std::memory_order_relaxed) != 0 && !in_signal_handler();
}

}  // namespace

void forget(int number) noexcept {
  if (!is_waited_for(number)) return;
  const int kept = errno;
  stop_polling(number);
  errno = kept;
}

void retry(int number) noexcept {
  if (!is_waited_for(number)) return;
  const int kept = errno;
  hocket::detail::wake_polling(number);
  errno = kept;
}

void forget_all_in_child() noexcept {
  // ORDER: relaxed, pairs with nothing: the child has one thread.
  for (auto& one : waits) one.store(0, std::memory_order_relaxed);
  highest.store(-1, std::memory_order_relaxed);
}

void forget(unsigned first, unsigned last) noexcept {
  // ORDER: relaxed, as above.
  const int most = highest.load(std::memory_order_relaxed);
  if (most < 0) return;
  const unsigned end = std::min(last, static_cast<unsigned>(most));
  for (unsigned number = first; number <= end; ++number) forget(static_cast<int>(number));
}

}}}  // namespace hocket::hook
