// Loads the plug-in that its argument names.
#include <hocket/base/fatal.hpp>

#include <cstdio>
#include <dlfcn.h>

int main(int, char** arguments) {
  if (dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL)) return 0;
  std::fprintf(stderr, "%s\n", dlerror());
  return 1;
}
