#include "unit/sync/kinds.hpp"

#include "suites/every_step_channels.hpp"
