// ctest takes 77 for "skipped": this processor lacks SVE, or its vectors are not as long as the program is compiled
// for.
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

[[gnu::constructor]] void skip_without_sve() {
  constexpr unsigned long sve = 1UL << 22;  // HWCAP_SVE
  if (!(getauxval(AT_HWCAP) & sve)) _exit(77);
  int length = prctl(PR_SVE_GET_VL);
  if (length < 0 || (length & PR_SVE_VL_LEN_MASK) != 64) _exit(77);
}

}  // namespace
