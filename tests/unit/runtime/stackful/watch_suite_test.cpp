#include "unit/runtime/stackful/kinds.hpp"

#include "suites/watch.hpp"
