// A signal handler's frame has all vector registers, and libgc looks through it. What memcpy and loops have left in
// them keeps up to 16 words.
#pragma once

namespace hocket_test {

#define CLEAR(n) asm volatile("vpxorq %zmm" #n ", %zmm" #n ", %zmm" #n)
[[gnu::noinline, gnu::target("avx512f")]] inline void clear_upper_registers() {
  CLEAR(16);
  CLEAR(17);
  CLEAR(18);
  CLEAR(19);
  CLEAR(20);
  CLEAR(21);
  CLEAR(22);
  CLEAR(23);
  CLEAR(24);
  CLEAR(25);
  CLEAR(26);
  CLEAR(27);
  CLEAR(28);
  CLEAR(29);
  CLEAR(30);
  CLEAR(31);
}
#undef CLEAR

[[gnu::noinline]] inline void clear_vector_registers() {
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroall");
  if (__builtin_cpu_supports("avx512f")) clear_upper_registers();
}

}  // namespace hocket_test
