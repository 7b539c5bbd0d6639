// What a completion gives lies in it.
// expect: complete a reference as a pointer
#include <hocket/sync/completion.hpp>

#ifdef SHOULD_FAIL
hocket::completion<int&> reference;
#endif
hocket::completion<int*> pointer;
