// Copied stacks, many coroutines that run on one stack in turn: what is in use of it is copied to the coroutine's own
// memory when that one leaves, and back when it is entered. By how much is in use: 256 B (hardly anything), and 4, 8
// and 32 KiB as in document 002.
//
//   memcpy-256, ...           the floor: nothing but the copies, two memcpy a round trip
//   hocket-copied-256, ...    round trips of coroutines that have so much on their stack, which they share
#include <hocket/fiber/coroutine.hpp>

#include <alloca.h>

#include "slab.hpp"

#include <cstring>

namespace {

using coroutine = hocket::coroutine<void()>;

struct variant {
  std::string_view system;
  bool is_floor;
  std::size_t bytes;
};
constexpr variant variants[] = {
    {"memcpy-256", true, 256},         {"memcpy-4k", true, 4096},           {"memcpy-8k", true, 8192},
    {"memcpy-32k", true, 32768},       {"hocket-copied-256", false, 256},   {"hocket-copied-4k", false, 4096},
    {"hocket-copied-8k", false, 8192}, {"hocket-copied-32k", false, 32768},
};

// Others may look at it here: so the copies are made.
void let_see(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

double copies(const lab::request& r, std::size_t bytes) {
  lab::address_space saved{r.n, bytes}, shared{1, r.stack};
  std::byte* stack = shared.top(0) - bytes;
  std::uint64_t rounds = 0;
  double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    rounds += k;
    return lab::timed([&] {
      for (; k; --k) {
        for (std::size_t i = 0; i < r.n; ++i) {
          std::memcpy(stack, saved.low(i), bytes);
          ++*reinterpret_cast<std::uint64_t*>(stack);
          let_see(stack);
          std::memcpy(saved.low(i), stack, bytes);
          let_see(saved.low(i));
        }
      }
    });
  });
  for (std::size_t i = 0; i < r.n; ++i) {
    if (*reinterpret_cast<std::uint64_t*>(saved.low(i)) != rounds) lab::fail("a copy is not what it should be");
  }
  return ns;
}

void live_with(std::size_t bytes, auto& self, lab::line& mine) {
  auto* used = static_cast<volatile std::uint64_t*>(alloca(bytes));
  for (used[0] = 0; !mine.stop; self.yield()) {
    used[0] = used[0] + 1;
    mine.count = used[0];
    let_see(const_cast<std::uint64_t*>(used));
  }
}

double round_trips(const lab::request& r, std::size_t bytes) {
  hocket::stack_pool stacks{{.stack_size = r.stack, .layout = hocket::stack_layout::copied}};
  lab::slots<lab::line> lines{r.n};
  lab::slots<coroutine> coroutines{r.n};
  auto round = [&] {
    for (std::size_t i = 0; i < r.n; ++i) coroutines[i].resume();
  };
  for (std::size_t i = 0; i < r.n; ++i) {
    lines[i] = lab::line{0, false};
    auto body = [bytes, &mine = lines[i]](auto& self) { live_with(bytes, self, mine); };
    coroutines.put(i, [&] { return coroutine{stacks, body}; });
  }
  std::uint64_t turns = 0;
  double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
    turns += k;
    return lab::timed([&] {
      for (; k; --k) round();
    });
  });
  for (std::size_t i = 0; i < r.n; ++i) {
    if (lines[i].count != turns) lab::fail("a coroutine did not run as it should");
    lines[i].stop = true;
  }
  round();
  for (std::size_t i = 0; i < r.n; ++i) coroutines.drop(i);
  return ns;
}

}  // namespace

int lab::copying(const char* system, const request& r) {
  for (const variant& each : variants) {
    if (each.system != system) continue;
    double ns = each.is_floor ? copies(r, each.bytes) : round_trips(r, each.bytes);
    emit(system, "copying", r.n, "ns", ns / static_cast<double>(r.n));
    return 0;
  }
  unknown_system();
}
