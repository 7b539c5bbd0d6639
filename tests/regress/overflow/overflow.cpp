#include "overflow.hpp"

namespace overflow {
namespace {

volatile bool for_ever = true;
volatile std::size_t first = 0;  // an index that the compiler does not know: it keeps the whole array

int depth_from(int depth) {
  volatile char room[200];
  room[0] = static_cast<char>(depth);
  return for_ever ? depth_from(depth + 1) + room[0] : room[0];
}

}  // namespace

void touch(std::uintptr_t address) { *reinterpret_cast<volatile char*>(address) = 1; }

void recur() { depth_from(0); }

// On the stack itself, under AddressSanitizer too.
[[gnu::noinline, gnu::no_sanitize_address]] void one_large_frame() {
  volatile char room[64 * 1024];
  room[first] = 1;
  static_cast<void>(room[first]);
  static_cast<void>(room[first]);
}

[[gnu::noinline, gnu::no_sanitize_address]] void use(std::size_t bytes) {
  auto* room = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (std::size_t i = 0; i < bytes; ++i) room[i] = 1;
}

}  // namespace overflow
