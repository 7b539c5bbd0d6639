// The floor of copied stacks, many coroutines that run on one stack in turn: what is in use of it is copied to the
// coroutine's own memory when that one leaves, and back when it is entered. Here nothing but the copies is done, two
// memcpy a round trip, of 256 B (hardly anything in use), and of 4, 8 and 32 KiB as in document 002.
//
//   memcpy-256, memcpy-4k, memcpy-8k, memcpy-32k
//
// A library that has copied stacks has its rows beside these.
#include "slab.hpp"

namespace {

struct size_of {
  std::string_view system;
  std::size_t bytes;
};
constexpr size_of sizes[] = {{"memcpy-256", 256}, {"memcpy-4k", 4096}, {"memcpy-8k", 8192}, {"memcpy-32k", 32768}};

// Others may look at it here: so the copies are made.
void let_see(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

}  // namespace

int lab::copying(const char* system, const request& r) {
  for (const size_of& each : sizes) {
    if (each.system != system) continue;
    address_space saved{r.n, each.bytes}, shared{1, r.stack};
    std::byte* stack = shared.top(0) - each.bytes;
    std::uint64_t rounds = 0;
    double ns = median_of_rounds(r.budget_ns, [&](std::size_t k) {
      rounds += k;
      return timed([&] {
        for (; k; --k) {
          for (std::size_t i = 0; i < r.n; ++i) {
            std::memcpy(stack, saved.low(i), each.bytes);
            ++*reinterpret_cast<std::uint64_t*>(stack);
            let_see(stack);
            std::memcpy(saved.low(i), stack, each.bytes);
            let_see(saved.low(i));
          }
        }
      });
    });
    for (std::size_t i = 0; i < r.n; ++i) {
      if (*reinterpret_cast<std::uint64_t*>(saved.low(i)) != rounds) fail("a copy is not what it should be");
    }
    emit(system, "copying", r.n, "ns", ns / static_cast<double>(r.n));
    return 0;
  }
  unknown_system();
}
