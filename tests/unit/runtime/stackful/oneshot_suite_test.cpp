#include "unit/runtime/stackful/kinds.hpp"

#include "suites/oneshot.hpp"
