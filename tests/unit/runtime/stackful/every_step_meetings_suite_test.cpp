#include "unit/runtime/stackful/kinds.hpp"

#include "suites/every_step_meetings.hpp"
