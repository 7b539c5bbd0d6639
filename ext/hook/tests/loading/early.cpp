// A library that makes hooked calls before main(), and when the process ends.
#include <cstdio>
#include <unistd.h>

namespace {

int ends[2] = {-1, -1};

[[gnu::constructor]] void begin() {
  char byte = 0;
  if (::pipe(ends) != 0 || ::write(ends[1], "x", 1) != 1 || ::read(ends[0], &byte, 1) != 1) ::_exit(10);
}
[[gnu::destructor]] void end() {
  char byte = 0;
  if (::write(ends[1], "x", 1) != 1 || ::read(ends[0], &byte, 1) != 1 || ::close(ends[0]) != 0) ::_exit(11);
  std::puts("early: ended well");
}

}  // namespace

extern "C" int early_library() { return 7; }
