#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "support/deadline.hpp"

#include <doctest/doctest.h>

// In the file of main(): in another one of a static library the linker would leave it out.
DOCTEST_REGISTER_LISTENER("deadline", 1, hocket_test::deadline);
