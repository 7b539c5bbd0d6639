// Runs before the program that is compiled for AVX-512. ctest takes 77 for "skipped".
#include <cstdio>

int main() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return 0;
  std::puts("skipped: this processor has no AVX-512 (F, BW, VL, DQ)");
  return 77;
}
