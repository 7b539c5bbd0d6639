// alone
// first: hocket: link the CMake target hocket::<layer> or use `pkg-config --cflags hocket`
#ifdef SHOULD_FAIL
#undef HOCKET_CHECKS
#undef HOCKET_CONFORMING
#endif
#include <hocket/stackless.hpp>
