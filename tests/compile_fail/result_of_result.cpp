// Nothing nests.
// expect: nothing nests
#include <hocket/base/result.hpp>

using flat = hocket::result<int>;
#ifdef SHOULD_FAIL
using nested = hocket::result<hocket::result<int>>;
nested make() { return nested(flat(1)); }
#endif
