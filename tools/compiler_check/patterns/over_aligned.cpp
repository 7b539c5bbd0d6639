// A local that wants more than 16 bytes of alignment.
// Instead: keep it on the heap: `auto p = std::make_unique<C>();`.
#include "support.hpp"

struct alignas(64) line {
  char bytes[64];
};
// In frames at several distances from such a line, because one of them may lie right by chance.
task<int> misaligned(int depth) {
  line local;
  local.bytes[0] = 1;
  volatile auto address = reinterpret_cast<std::uintptr_t>(&local);
  co_await turn{};
  int below = depth == 0 ? 0 : co_await misaligned(depth - 1);
  co_return below + (address % 64 != 0);
}
task<int> pattern() { co_return co_await misaligned(8); }

int main() { return verdict(pattern, 0); }
