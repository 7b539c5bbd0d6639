#include "unit/runtime/packed/kinds.hpp"

#include "suites/once.hpp"
