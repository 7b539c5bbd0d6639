// The version of hocket. The header needs no compile definition, so a build script can include it.
#pragma once

#define HOCKET_VERSION_MAJOR 0
#define HOCKET_VERSION_MINOR 1
#define HOCKET_VERSION_PATCH 0

// The version as a comparable number: 100 is 0.1.0, 10203 is 1.2.3.
#define HOCKET_VERSION (HOCKET_VERSION_MAJOR * 10000 + HOCKET_VERSION_MINOR * 100 + HOCKET_VERSION_PATCH)
