#include "unit/runtime/workers/kinds.hpp"

#include "suites/mutex.hpp"
