// A list in options views what the caller owns, so it has a name.
// first: a list in options is a named array: const std::string_view extra\[\] = \{...\}
// alone
#include <hocket/io/process.hpp>

using namespace hocket;

#ifdef SHOULD_FAIL
auto start() { return process::start({"env"}, {.environment = {"LANG=C", "TZ=UTC"}}); }
#else
constexpr std::string_view extra[] = {"LANG=C", "TZ=UTC"};
auto start() { return process::start({"env"}, {.environment = extra}); }
#endif
