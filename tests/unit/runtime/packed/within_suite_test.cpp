#include "unit/runtime/packed/kinds.hpp"

#include "suites/within.hpp"
