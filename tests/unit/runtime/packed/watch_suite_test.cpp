#include "unit/runtime/packed/kinds.hpp"

#include "suites/watch.hpp"
