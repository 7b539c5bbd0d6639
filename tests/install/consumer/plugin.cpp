// A plug-in that includes a header of hocket.
#include <hocket/base/fatal.hpp>

extern "C" int plugin_version() { return HOCKET_VERSION; }
