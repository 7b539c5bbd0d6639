// A result of a reference never refers to a temporary.
// expect: error
#include <hocket/base/result.hpp>
#include <string>

std::string kept;
hocket::result<const std::string&> good() { return kept; }
#ifdef SHOULD_FAIL
hocket::result<const std::string&> bad() { return std::string("gone"); }
#endif
