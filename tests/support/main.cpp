#define DOCTEST_CONFIG_IMPLEMENT
#include "support/deadline.hpp"

#include <doctest/doctest.h>

// In the file of main(): in another one of a static library the linker would leave it out.
DOCTEST_REGISTER_LISTENER("deadline", 1, hocket_test::deadline);

// Cases run in the order of their names. By default doctest sorts them by __FILE__, and a compiler's cache may bring
// the path of another tree. --order-by=rand finds a case that depends on another.
int main(int argc, char** argv) {
  doctest::Context tests;
  tests.setOption("order-by", "name");
  tests.applyCommandLine(argc, argv);
  return tests.run();
}
