// Whether a test runs under Valgrind. From the environment, since decorators of test cases ask before main().
#pragma once
#include <cstdlib>
#include <cstring>

namespace hocket_test {

inline bool runs_in_valgrind() {
  const char* preloaded = std::getenv("LD_PRELOAD");
  return preloaded && std::strstr(preloaded, "vgpreload");
}

}  // namespace hocket_test
