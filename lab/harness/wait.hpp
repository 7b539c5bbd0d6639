#pragma once
// The page `wait`: what its workloads are, whatever the language. Each counts one unit, on one thread.
//
//   mutex               lock and unlock a mutex that nobody else wants; a counter is incremented in between
//   mutex_handover      two coroutines want one mutex, and it goes from one to the other: each waits for it every time
//   event               two coroutines: one sets the event that the other waits for, then waits for the next one
//   oneshot             create a channel for one value, send, receive, destroy
//   oneshot_handover    the same, but the receiver waits already; two coroutines, each in turn
//   semaphore           acquire and release a permit that is free
//   semaphore_handover  as mutex_handover, with a semaphore of one permit
//   within              as mutex (or semaphore), the lock under a deadline that does not come
//   within_handover     as event, the wait under a deadline that does not come
//   select              wait for one of four things, one of which is there already: each in turn
//   select_handover     the same, but none is there, and another coroutine brings one
//
// So a unit of a "handover" has one wait that suspends, one wake-up, and the switches from one coroutine to the next.
// What is expected is counted, and a batch that comes to another figure fails.
#include "harness.hpp"

namespace lab {

// Where others could change what is in memory: the compiler neither moves anything over it nor remembers what it saw.
inline void others() { asm volatile("" : : : "memory"); }

// Between lock and unlock.
inline void increment(std::uint64_t& counter) {
  ++counter;
  others();
}

// Counts how often a thing goes from one of two coroutines to the other.
struct handovers {
  std::size_t count = 0;
  int last = -1;

  void taken_by(int me) {
    count += last != me;
    last = me;
  }
};

// Runs the batch that has the name of the workload. Each entry does k units, k being even, and returns whether all
// went as intended.
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
