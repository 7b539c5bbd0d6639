#include "unit/runtime/stackful/kinds.hpp"

#include "suites/sleep.hpp"
