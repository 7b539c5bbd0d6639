#include "unit/runtime/stackful/kinds.hpp"

#include "suites/every_step_channels.hpp"
