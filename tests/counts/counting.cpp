#include "counting.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#include <valgrind/callgrind.h>

namespace counts {

void begin() noexcept { CALLGRIND_ZERO_STATS; }
void end(const char* label) noexcept { CALLGRIND_DUMP_STATS_AT(label); }

}  // namespace counts
#pragma GCC diagnostic pop
