#include "runtime/worker_core.hpp"

#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t largest_theft = 256;
constexpr duration worth_a_wake = std::chrono::microseconds(8);
constexpr std::size_t many = 8;                   // coroutines of a microsecond each take as long as a wake
constexpr std::size_t pushes_between_looks = 16;  // pushes between two reads of the clock

}  // namespace

// --- the pool

void pool_core::wake_one() noexcept {
  if (worker_core* chosen = idle.notify()) chosen->nudge();
}

void pool_core::arm_watch() noexcept {
  // ORDER: release, pairs with the load in read_watch_epoch().
  watch_epoch.fetch_add(1, std::memory_order_release);
  futex_wake_all(watch_epoch);
}

// If a worker arms the observer after rests(), watch_epoch differs from `epoch`, and the wait returns.
void pool_core::pause(idle_workers::observer self, std::uint32_t epoch, duration period) noexcept {
  if (idle.rests(self)) futex_wait(watch_epoch, epoch);
  else static_cast<void>(futex_wait_until(watch_epoch, epoch, deadline_after(steady_clock().now(), period)));
}

bool pool_core::has_work() const noexcept {
  if (!injected.empty()) return true;
  for (const worker_core* worker : cores) {
    if (worker->has_surplus()) return true;
  }
  return false;
}

// --- search for work

worker_core::worker_core(pool_core& pool, inbox& mail, run_queue& ready) noexcept
    : shared_(pool),
      mail_(mail),
      bound_(ready),
      next_victim_(pool.cores.size() + 1),
      stealable_(pool.idle.can_wake()),
      forks_(pool.idle.can_wake()) {
  pool.cores.push_back(this);  // reserved
}

worker_core::search worker_core::find_work() noexcept {
  if (!searching_ && !shared_.idle.begin_search()) return {false, nullptr};
  searching_ = true;
  bool found = take_injected();
  const std::size_t others = shared_.cores.size();
  const std::size_t first = next_victim_++;
  for (std::size_t i = 0; i < others && !found; ++i) found = steal_from(shared_.core(first + i));
  if (found) {
    found_work();
    return {true, nullptr};
  }
  for (std::size_t i = 0; i < others; ++i) {
    if (fork_entry* fork = steal_fork_of(shared_.core(first + i))) return {true, fork};
  }
  return {false, nullptr};
}

bool worker_core::steal_from(worker_core& victim) noexcept {
  if (&victim == this) return false;
  std::array<std::coroutine_handle<>, largest_theft> stolen;
  const std::size_t least = victim.steal_threshold();
  if (victim.stealable_.in_reach() < least) return false;
  const std::size_t capacity = stealable_.reserve(stolen.size());
  const std::size_t count = victim.stealable_.steal(std::span(stolen).first(capacity), least);
  for (std::size_t i = 0; i < count; ++i) static_cast<void>(stealable_.try_push(stolen[i]));  // there is capacity
  stolen_.add(count);
  return count != 0;
}

fork_entry* worker_core::steal_fork_of(worker_core& victim) noexcept {
  if (&victim == this) return nullptr;
  fork_entry* fork = victim.forks_.steal();
  if (!fork) return nullptr;
  stolen_.add(1);
  found_work();
  return fork;
}

void worker_core::found_work() noexcept {
  searching_ = false;
  const auto [last, alone] = shared_.idle.end_search();
  if (!last) return;
  // ORDER: forbids the check of the queues before the end of the search, against threads that post.
  if (alone) fence(std::memory_order_seq_cst);
  if (!alone || shared_.has_work()) shared_.wake_one();
}

// --- sleeping

// Called after the announcement of the sleep.
bool worker_core::finds_work(bool others_awake) const noexcept {
  if (others_awake) heavy_fence();
  // ORDER: forbids the check of the queues before the announcement, against threads that post from outside.
  else fence(std::memory_order_seq_cst);
  return shared_.has_work();
}

// --- offers

bool worker_core::has_many() const noexcept { return stealable_.size() >= many; }

void worker_core::share_beside_sleeper() noexcept {
  if (has_many()) shared_.wake_one();
  else turn_began_ = shared_.turn_clock->now();
}

void worker_core::offer_if_late() noexcept {
  if (has_many() || (pushes_++ % pushes_between_looks == 0 && turn_is_late())) shared_.wake_one();
}

// If no other worker slept at its begin, the turn counts from the first read of the clock.
bool worker_core::turn_is_late() noexcept {
  const time_point present = shared_.turn_clock->now();
  if (turn_began_ == unknown) turn_began_ = present;
  const bool late = present - turn_began_ >= worth_a_wake;
  if (late) set_late(true);
  return late;
}

}}}  // namespace hocket::detail
