#include "unit/runtime/stackful/kinds.hpp"

#include "suites/stopped.hpp"
