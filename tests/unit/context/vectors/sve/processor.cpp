// Runs before the program that is compiled for SVE with vectors of 512 bits. ctest takes 77 for "skipped".
#include <sys/auxv.h>
#include <sys/prctl.h>

#include <cstdio>

int main() {
  constexpr unsigned long sve = 1UL << 22;  // HWCAP_SVE
  const int length = getauxval(AT_HWCAP) & sve ? prctl(PR_SVE_GET_VL) : -1;
  if (length >= 0 && (length & PR_SVE_VL_LEN_MASK) == 64) return 0;
  std::puts("skipped: this processor has no SVE with vectors of 512 bits");
  return 77;
}
