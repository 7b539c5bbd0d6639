#include "unit/runtime/packed/kinds.hpp"

#include "suites/sleep.hpp"
