#include "unit/runtime/stackful/kinds.hpp"

#include "suites/broadcast.hpp"
