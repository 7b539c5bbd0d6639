#include "unit/runtime/stackful/kinds.hpp"

#include "suites/select.hpp"
