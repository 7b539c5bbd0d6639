#include "unit/runtime/packed/kinds.hpp"

#include "suites/latch.hpp"
