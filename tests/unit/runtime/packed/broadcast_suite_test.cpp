#include "unit/runtime/packed/kinds.hpp"

#include "suites/broadcast.hpp"
