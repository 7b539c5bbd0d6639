// What is no coroutine needs nobody to keep it: it is called.
// expect: no matching function for call to .invoke
#include <hocket/coro/invoke.hpp>

hocket::task<int> kept(int n);
int called(int n);
#ifdef SHOULD_FAIL
auto wrong() { return hocket::invoke(called, 7); }
#else
auto right() { return hocket::invoke(kept, 7); }
#endif
