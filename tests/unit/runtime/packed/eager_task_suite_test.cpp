#include "unit/runtime/packed/kinds.hpp"

#include "suites/eager_task.hpp"
