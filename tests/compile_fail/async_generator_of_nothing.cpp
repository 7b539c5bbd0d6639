// A value is given as a pointer to it.
// expect: T is an object type or a reference
#include <hocket/coro/async_generator.hpp>

hocket::async_generator<int> numbers() { co_yield 1; }
#ifdef SHOULD_FAIL
hocket::async_generator<void> nothing() { co_return; }
#endif
