#include "unit/runtime/workers/kinds.hpp"

#include "suites/select.hpp"
