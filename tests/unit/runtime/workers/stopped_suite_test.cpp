#include "unit/runtime/workers/kinds.hpp"

#include "suites/stopped.hpp"
