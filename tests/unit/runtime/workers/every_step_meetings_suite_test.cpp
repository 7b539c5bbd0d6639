#include "unit/runtime/workers/kinds.hpp"

#include "suites/every_step_meetings.hpp"
