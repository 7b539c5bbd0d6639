#include "unit/sync/kinds.hpp"

#include "suites/stopped.hpp"
