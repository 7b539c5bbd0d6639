// A bound value is shared by coroutines of several threads, and constant.
// expect: bind a pointer to what changes
#include <hocket/coro/context_local.hpp>

#ifdef SHOULD_FAIL
hocket::context_local<int&> reference;
#endif
hocket::context_local<int*> pointer;
