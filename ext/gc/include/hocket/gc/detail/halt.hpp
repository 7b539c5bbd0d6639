// The handshake of the thread that stops the world, the stopper, with the registered threads.
//
//   a registered thread                             the stopper (one at a time, under the world's mutex)
//   leave(): its mark is `outside`; if a stop is    1. begin(): the phase is odd
//     requested, it wakes the stopper               2. await(mark), for each thread: until the mark is `outside`
//   reenter(): its mark is `inside`; if a stop is   3. scans the state of coroutines
//     requested, it is `outside` again, wakes the   4. end(): the phase is even
//     stopper, and sleeps until the phase has
//     changed; then repeats
//
// A thread leaves before it sleeps, and before a longer section that touches no coroutine. A safepoint is a leave() and
// a reenter().
//
// Each side writes its word and then reads the other's (seq_cst). If a returning thread reads an even phase, then the
// stopper reads its mark as `inside` and waits for it. In reenter() a mark may be `inside` for a moment during a stop:
// the thread touches nothing in it.
//
// The stopper sees every write that a thread made before leave(). The thread sees the stopper's writes after reenter().
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

using namespace hocket::detail;

class halt {
 public:
  // The state of one thread.
  using mark = primitive::atomic<std::uint32_t>;
  static constexpr std::uint32_t inside = 0, outside = 1;

  bool is_stop_requested() const noexcept {
    // ORDER: relaxed, pairs with nothing: a cheap poll. A thread that misses the odd phase polls again.
    return phase_.load(std::memory_order_relaxed) % 2 != 0;
  }

  void leave(mark& self) const noexcept {
    self.store(outside);
    if (phase_.load() % 2 != 0) futex_wake_all(self);
  }
  void reenter(mark& self) const noexcept {
    for (;;) {
      self.store(inside);
      const std::uint32_t phase = phase_.load();
      if (phase % 2 == 0) return;
      self.store(outside);
      futex_wake_all(self);
      while (phase_.load() == phase) futex_wait(phase_, phase);
    }
  }

  void begin() noexcept {
    // ORDER: seq_cst forbids that a mark is read before the odd phase is seen by all.
    phase_.fetch_add(1, std::memory_order_seq_cst);
  }
  static void await(const mark& thread) noexcept {
    while (thread.load() == inside) futex_wait(thread, inside);
  }
  void end() noexcept {
    // ORDER: release, pairs with the load in reenter(): the thread sees the stopper's writes.
    phase_.fetch_add(1, std::memory_order_release);
    futex_wake_all(phase_);
  }

 private:
  primitive::atomic<std::uint32_t> phase_{0};
};

}}}  // namespace hocket::gc::detail
