#include "unit/runtime/packed/kinds.hpp"

#include "suites/barrier.hpp"
