#pragma once
// The page `wait`: its workloads, for all languages. Each counts one unit, on one thread.
//
//   mutex               lock and unlock a free mutex; a counter is incremented in between
//   mutex_handover      two coroutines pass a mutex to each other: each waits for it every time
//   event               two coroutines: one sets the event that the other waits for, then waits for the next one
//   oneshot             create a channel for one value, send, receive, destroy
//   oneshot_handover    the same, with a waiting receiver; two coroutines, each in turn
//   semaphore           acquire and release a permit that is free
//   semaphore_handover  as mutex_handover, with a semaphore of one permit
//   within              as mutex (or semaphore), the lock under a deadline that does not pass
//   within_handover     as event, the wait under a deadline that does not pass
//   select              wait for one of four operations, of which one is possible at once: each in turn
//   select_handover     the same, but none is possible until another coroutine makes one possible
//
// So a unit of a "handover" has one wait that suspends, one wake-up, and the switches from one coroutine to the next.
// The results are counted, and a batch with a wrong count fails.
#include "harness.hpp"

namespace lab {

// A point at which other code could change memory: the compiler moves no access over it, and loads values again after.
inline void others() { asm volatile("" : : : "memory"); }

// Between lock and unlock.
inline void increment(std::uint64_t& counter) {
  ++counter;
  others();
}

// Counts how often an object passes from one of two coroutines to the other.
struct handovers {
  std::size_t count = 0;
  int last = -1;

  void taken_by(int me) {
    count += last != me;
    last = me;
  }
};

// Runs the batch with the name of the workload. Each entry does k units, with an even k, and returns whether all
// results were right.
struct named_batch {
  std::string_view workload;
  bool (*units)(std::uint64_t k);
};

template <std::size_t N>
int run_named(const char* system, const request& r, const named_batch (&batches)[N]) {
  for (const named_batch& batch : batches) {
    if (batch.workload == r.workload) return run_batches(system, r, batch.units);
  }
  fail("this subject does not know that workload");
}

}  // namespace lab
