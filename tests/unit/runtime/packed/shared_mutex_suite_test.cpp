#include "unit/runtime/packed/kinds.hpp"

#include "suites/shared_mutex.hpp"
