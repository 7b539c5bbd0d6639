// ctest takes 77 for "skipped": this processor lacks the instructions that the whole program is compiled with.
#include <unistd.h>

namespace {

[[gnu::constructor]] void skip_without_avx512() {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
    _exit(77);
}

}  // namespace
