#include "unit/runtime/packed/kinds.hpp"

#include "suites/event.hpp"
