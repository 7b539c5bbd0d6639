// What a guard costs: for each of n stacks that were never used, in nanoseconds and in memory (resident pages and page
// tables). Mappings, of which mprotect makes two a stack, are not in the bytes; vm.max_map_count limits them.
//
//   guard-none              nothing but the addresses
//   guard-canary            sixteen bytes written at the low end: the first touch of a page
//   guard-mprotect          PROT_NONE for the lowest page: a mapping is split
//   guard-marker            MADV_GUARD_INSTALL for it (Linux 6.13): none is
//   guard-marker-vectored   the same, 512 stacks in one process_madvise
//   hocket-guarded          stack_pool::acquire() of fresh stacks, guard::required: whatever it does here
//   hocket-canary           the same, guard::canary
#include <hocket/stack/stack_pool.hpp>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "slab.hpp"

namespace {

constexpr std::size_t page = 4096;
constexpr int guard_install = 102;  // MADV_GUARD_INSTALL: newer than the C library's headers
constexpr std::size_t vector_length = 512;

using lab::address_space;

// What one variant does for all n; false when the kernel refuses.
using install = bool (*)(const address_space& stacks, std::size_t n);

bool none(const address_space& stacks, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    std::byte* low = stacks.low(i);
    asm volatile("" : : "r"(low));
  }
  return true;
}

bool canary(const address_space& stacks, std::size_t n) {
  constexpr std::uint64_t words[2] = {0x9a3c5e7fb1d20846u, 0x46820d1bf7e5c3a9u};
  for (std::size_t i = 0; i < n; ++i) std::memcpy(stacks.low(i), words, sizeof words);
  return true;
}

bool protect(const address_space& stacks, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (mprotect(stacks.low(i), page, PROT_NONE) != 0) return false;
  }
  return true;
}

bool marker(const address_space& stacks, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (madvise(stacks.low(i), page, guard_install) != 0) return false;
  }
  return true;
}

bool marker_vectored(const address_space& stacks, std::size_t n) {
  static const long self = syscall(SYS_pidfd_open, getpid(), 0);
  iovec some[vector_length];
  for (std::size_t i = 0; i < n;) {
    std::size_t count = std::min(vector_length, n - i);
    for (std::size_t j = 0; j < count; ++j) some[j] = {stacks.low(i + j), page};
    long done = syscall(SYS_process_madvise, self, some, count, guard_install, 0);
    if (done < 0 || static_cast<std::size_t>(done) % page != 0 || done == 0) return false;
    i += static_cast<std::size_t>(done) / page;
  }
  return true;
}

struct cost {
  double ns;
  double bytes;
};

template <class F>
cost measured(std::size_t n, F&& f) {
  double before = lab::memory_in_use();
  double ns = lab::timed(f);
  return {ns / static_cast<double>(n), std::max(0.0, lab::memory_in_use() - before) / static_cast<double>(n)};
}

// Stacks of hocket's pool, all acquired at once.
cost of_pool(const lab::request& r, hocket::guard protection) {
  hocket::stack_pool pool{{.stack_size = r.stack, .protection = protection}};
  lab::slots<hocket::stack_ref> stacks{r.n};
  cost found = measured(r.n, [&] {
    for (std::size_t i = 0; i < r.n; ++i) {
      auto stack = pool.acquire();
      if (!stack) lab::fail("the pool has no stack");
      stacks[i] = *stack;
    }
  });
  for (std::size_t i = 0; i < r.n; ++i) pool.release(stacks[i]);
  return found;
}

template <class F>
int report(const char* system, const lab::request& r, F&& once) {
  double bytes = 0;
  double ns = lab::median_of_calls(r.budget_ns, [&] {
    cost found = once();
    bytes = found.bytes;
    return found.ns;
  });
  lab::emit(system, "guard", r.n, "ns", ns);
  lab::emit(system, "guard_bytes", r.n, "B", bytes);
  return 0;
}

struct variant {
  std::string_view system;
  install all;
};
constexpr variant variants[] = {{"guard-none", none},
                                {"guard-canary", canary},
                                {"guard-mprotect", protect},
                                {"guard-marker", marker},
                                {"guard-marker-vectored", marker_vectored}};

}  // namespace

int lab::guards(const char* system, const request& r) {
  std::string_view name = system;
  if (name == "hocket-guarded") return report(system, r, [&] { return of_pool(r, hocket::guard::required); });
  if (name == "hocket-canary") return report(system, r, [&] { return of_pool(r, hocket::guard::canary); });
  for (const variant& each : variants) {
    if (each.system != name) continue;
    address_space trial{64, r.stack};
    if (!each.all(trial, 64)) return skip(system, r, "the kernel has no such guard (markers: Linux 6.13)");
    return report(system, r, [&] {
      address_space stacks{r.n, r.stack};
      return measured(r.n, [&] {
        if (!each.all(stacks, r.n)) fail("the kernel refused a guard (mprotect: see vm.max_map_count)");
      });
    });
  }
  unknown_system();
}
