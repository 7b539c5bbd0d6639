#pragma once
// The page `stacks`: what each mechanism is worth that documents 002 and 003 name, by the same thing with and without
// it. One program has all of them, called as `<program> <system> <workload> <n> <stack bytes> <budget ms>`; a system is
// one variant of one workload.
//
//   first_entry  creation and first entry, the stacks being fresh or warm; and the page faults of that
//   guard        a guard for each of n stacks, of each kind
//   colour       round trips, the tops of the stacks being staggered or not
//   dense        round trips on small stacks, on pages of their own or side by side on huge ones
//   order        round trips in a random order, prefetched or not
//   saved        round trips through a routine that saves more, or comes back in another way
//   ownership    std::function and shared_ptr around each coroutine
//   atomics      round trips with what a library may count at each switch
//   optimised    round trips, compiled with -O2 and -O3
//   two_threads  two threads create and destroy at once: the processor time of one operation
//   copying      copied stacks, and their floor: memory copied out and in again
//   hibernation  stacks that are packed while their coroutine waits
//   parked       what a coroutine takes that waits, by kind of stack
//
// Each function measures the variant that has the name of the system, and returns an exit status.
#include "harness.hpp"

namespace lab {

int first_entry(const char* system, const request& r);
int guards(const char* system, const request& r);
int colour(const char* system, const request& r);
int dense(const char* system, const request& r);
int order(const char* system, const request& r);
int saved(const char* system, const request& r);
int ownership(const char* system, const request& r);
int atomics(const char* system, const request& r);
int optimised(const char* system, const request& r);
int two_threads(const char* system, const request& r);
int copying(const char* system, const request& r);
int hibernation(const char* system, const request& r);
int parked_bytes(const char* system, const request& r);

[[noreturn]] inline void unknown_system() { fail("this workload has no such system"); }

// Page tables of the process, in bytes.
inline double page_table_bytes() {
  std::FILE* f = std::fopen("/proc/self/status", "r");
  if (!f) fail("cannot read /proc/self/status");
  char text[256];
  unsigned long long kib = 0;
  while (std::fgets(text, sizeof text, f)) {
    if (std::sscanf(text, "VmPTE: %llu", &kib) == 1) break;
  }
  std::fclose(f);
  return static_cast<double>(kib) * 1024;
}

inline double memory_in_use() { return resident_bytes() + page_table_bytes(); }

// The median of what `once()` returns, which is called until the budget is spent, three times or more.
template <class F>
double median_of_calls(double budget_ns, F&& once) {
  std::vector<double> values;
  double end = now_ns() + budget_ns;
  while (values.size() < 3 || (values.size() < 99 && now_ns() < end)) values.push_back(once());
  return median(std::move(values));
}

}  // namespace lab
