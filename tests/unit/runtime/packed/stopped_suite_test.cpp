#include "unit/runtime/packed/kinds.hpp"

#include "suites/stopped.hpp"
