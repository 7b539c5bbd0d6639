#define DOCTEST_CONFIG_IMPLEMENT
#include "support/deadline.hpp"

#include <doctest/doctest.h>

// In the file of main(): in another one of a static library the linker would leave it out.
DOCTEST_REGISTER_LISTENER("deadline", 1, hocket_test::deadline);

// In the order of their names: doctest's own order is that of __FILE__, which a compiler's cache takes from whichever
// tree compiled the file first. --order-by=rand finds a test that depends on another.
int main(int argc, char** argv) {
  doctest::Context tests;
  tests.setOption("order-by", "name");
  tests.applyCommandLine(argc, argv);
  return tests.run();
}
