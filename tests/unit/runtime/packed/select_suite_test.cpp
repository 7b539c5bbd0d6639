#include "unit/runtime/packed/kinds.hpp"

#include "suites/select.hpp"
