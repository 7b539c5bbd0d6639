// The calls of this program and of its shared libraries are hooked.
#include <hocket/fiber/spawn.hpp>
#include <hocket/hook/hook.hpp>
#include <hocket/runtime/loop.hpp>
#include <unistd.h>

int main() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return 1;
  hocket::loop lp;
  char got = 0;
  auto reads = spawn(lp, hocket::hook::hooked([&] { return ::read(ends[0], &got, 1) == 1; }));
  auto writes = spawn(lp, [&] { return ::write(ends[1], "x", 1) == 1; });
  lp.run();
  return got == 'x' && hocket::hook::collect_statistics().waits == 1 ? 0 : 1;
}
