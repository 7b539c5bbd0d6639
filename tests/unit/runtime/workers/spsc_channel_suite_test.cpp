#include "unit/runtime/workers/kinds.hpp"

#include "suites/spsc_channel.hpp"
#include "suites/spsc_channel_choices.hpp"
