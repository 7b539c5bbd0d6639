// loading <late library>: a program with a library that makes calls early, and one that is loaded by a fiber.
#include <hocket/hocket.hpp>
#include <hocket/hook/hook.hpp>
#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

extern "C" int early_library();

using namespace hocket;

// Returns 0, or the number of the step that failed.
int try_library(const char* file, int mode) {
  void* const library = ::dlopen(file, mode);
  if (!library) return 1;
  const auto error_of = reinterpret_cast<int (*)()>(::dlsym(library, "late_error"));
  const auto read_by = reinterpret_cast<long (*)(int, void*, unsigned long)>(::dlsym(library, "late_read"));
  if (error_of() != ECANCELED) return 2;  // its constructor could not wait
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return 3;
  char byte = 0;
  auto writes = spawn([&] { return ::write(ends[1], "x", 1) == 1; });
  if (read_by(ends[0], &byte, 1) != 1) return 4;  // a hooked call: it waited
  ::close(ends[0]);
  ::close(ends[1]);
  return ::dlclose(library) == 0 ? 0 : 5;
}

int main(int count, char** words) {
  if (count != 2 || early_library() != 7) return 20;
  int failed_step = 0;
  loop lp;
  spawn(lp, hook::hooked([&] { failed_step = try_library(words[1], RTLD_NOW | RTLD_LOCAL); }));
  lp.run();
  if (failed_step != 0) std::printf("step %d failed\n", failed_step);
  return failed_step;
}
