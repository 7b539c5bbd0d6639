#include "unit/runtime/workers/kinds.hpp"

#include "suites/eager_task.hpp"
