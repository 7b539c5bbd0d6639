#include "unit/runtime/stackful/kinds.hpp"

#include "suites/once.hpp"
