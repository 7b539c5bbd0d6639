#include "unit/runtime/packed/kinds.hpp"

#include "suites/every_step_meetings.hpp"
