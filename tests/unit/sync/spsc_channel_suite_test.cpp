#include "unit/sync/kinds.hpp"

#include "suites/spsc_channel.hpp"
#include "suites/spsc_channel_choices.hpp"
