// How a thread that stops the others, and the others, meet.
//
//   a registered thread                             the thread that stops them (one at a time, under the world's mutex)
//   leave(): its mark is `outside`; if a stop is    1. begin(): the phase is odd
//     asked for, it wakes the one that stops        2. await(mark), for each thread: until that is `outside`
//   come_back(): its mark is `inside`; if a stop    3. looks at what coroutines hold
//     is asked for, it is `outside` again, wakes    4. end(): the phase is even
//     the one that stops, and sleeps until the
//     phase has changed; and again
//
// A thread leaves before it sleeps, and where it has nothing to do with coroutines for a while. A safepoint is a
// leave() and a come_back().
//
// Each side writes its word and then reads the other's (seq_cst). If a returning thread reads an even phase, then the
// stopper reads its mark as `inside` and waits for it. In come_back() a mark may be `inside` for a moment during a
// stop: the thread touches nothing in it.
//
// The stopper sees every write that a thread made before leave(). The thread sees the stopper's writes after
// come_back().
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace gc::detail {

using namespace hocket::detail;

class halt {
 public:
  // Of one thread: whether it is outside.
  using mark = primitive::atomic<std::uint32_t>;
  static constexpr std::uint32_t inside = 0, outside = 1;

  bool is_stop_requested() const noexcept {
    // ORDER: relaxed, pairs with nothing: a look that costs nothing. Who sees the odd phase later polls again.
    return phase_.load(std::memory_order_relaxed) % 2 != 0;
  }

  void leave(mark& self) const noexcept {
    self.store(outside);
    if (phase_.load() % 2 != 0) futex_wake_all(self);
  }
  void come_back(mark& self) const noexcept {
    for (;;) {
      self.store(inside);
      const std::uint32_t seen = phase_.load();
      if (seen % 2 == 0) return;
      self.store(outside);
      futex_wake_all(self);
      while (phase_.load() == seen) futex_wait(phase_, seen);
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
    // ORDER: release, pairs with the load in come_back(): what was done to the thread is visible.
    phase_.fetch_add(1, std::memory_order_release);
    futex_wake_all(phase_);
  }

 private:
  primitive::atomic<std::uint32_t> phase_{0};
};

}}}  // namespace hocket::gc::detail
