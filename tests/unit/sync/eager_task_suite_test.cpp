#include "unit/sync/kinds.hpp"

#include "suites/eager_task.hpp"
