// A library that waits in its constructor, under the loader's lock, and in a function.
#include <cerrno>
#include <unistd.h>

namespace {
int of_constructor = 0;

[[gnu::constructor]] void begin() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return;
  char byte = 0;
  if (::read(ends[0], &byte, 1) == -1) of_constructor = errno;
  ::close(ends[0]);
  ::close(ends[1]);
}
}  // namespace

extern "C" int late_error() { return of_constructor; }
extern "C" long late_read(int from, void* into, unsigned long size) { return ::read(from, into, size); }
