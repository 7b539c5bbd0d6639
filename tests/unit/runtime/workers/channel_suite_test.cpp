#include "unit/runtime/workers/kinds.hpp"

#include "suites/channel.hpp"
#include "suites/channel_choices.hpp"
