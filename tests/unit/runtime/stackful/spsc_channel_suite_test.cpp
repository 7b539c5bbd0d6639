#include "unit/runtime/stackful/kinds.hpp"

#include "suites/spsc_channel.hpp"
#include "suites/spsc_channel_choices.hpp"
