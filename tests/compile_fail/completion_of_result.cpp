// A completion has an error of its own: one of a result would nest.
// expect: say completion<T>; fail\(error\) gives the error
#include <hocket/sync/completion.hpp>

#ifdef SHOULD_FAIL
hocket::completion<hocket::result<int>> nested;
#endif
hocket::completion<int> plain;
